"""Partner groups in the API: affiliates of one program who share a rate."""

from typing import Any

from marshmallow import fields, post_load

from domain.conversions.commission import CommissionType
from schemas.base import Amount, Instant, Wire, line, not_blank, one_of, rate


class _Written(Wire):
    @post_load
    def _trim(self, group: dict[str, Any], **_: object) -> dict[str, Any]:
        if "name" in group:
            group["name"] = group["name"].strip()
        return group


class PartnerGroupBody(_Written):
    """A new group."""

    name = line(longest=100, required=True, validate=[not_blank])
    commission_type = one_of(CommissionType, required=True)
    commission_value = rate(required=True)


class PartnerGroupChanges(_Written):
    """Changes of a group: sent fields are set."""

    name = line(longest=100, validate=[not_blank])
    commission_type = one_of(CommissionType)
    commission_value = rate()


class PartnerGroupRecord(Wire):
    """A group with the number of its affiliates."""

    id = fields.UUID()
    program_id = fields.UUID()
    name = fields.String()
    commission_type = one_of(CommissionType)
    commission_value = Amount()
    affiliate_count = fields.Integer()
    created_at = Instant()
