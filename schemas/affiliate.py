"""Affiliates and their links on the wire, for callers with a key.

Source: core spec, "Affiliate" (what a key never sees: the application, auth ids, payout accounts).
"""

from typing import Any

from marshmallow import ValidationError, fields, post_load, validates_schema

from domain import slugs, statuses
from domain.commission import CommissionType
from schemas.base import Amount, Email, Instant, Wire, one_of, rate, text
from schemas.paging import SkippingPageQuery


def alias() -> fields.String:
    """Return the field for a slug that the affiliate or the brand chose; an empty one counts as none."""
    return text(longest=64, load_default=None, allow_none=True, data_key="customAlias", validate=[_alias])


def _alias(value: str) -> None:
    if value and not slugs.is_valid(value):
        raise ValidationError("It must be 3 to 64 of a-z, 0-9 and hyphen.")
    if value in slugs.RESERVED:
        raise ValidationError("This word is reserved.")


class AffiliateBody(Wire):
    """A new affiliate. Loads to columns by name, and `alias`."""

    program_id = fields.UUID(required=True)
    email = Email(required=True)
    full_name = text(longest=200, load_default="", allow_none=True)
    status = one_of(statuses.AffiliateStatus, load_default=None, allow_none=True)
    custom_commission_type = one_of(CommissionType, load_default=None, allow_none=True)
    custom_commission_value = rate(load_default=None, allow_none=True)
    alias = alias()

    @validates_schema
    def _check_pair(self, sent: dict[str, Any], **_: object) -> None:
        is_type_missing, is_value_missing = (
            sent.get(name) is None for name in ("custom_commission_type", "custom_commission_value")
        )
        if is_type_missing != is_value_missing:
            missing = "customCommissionType" if is_type_missing else "customCommissionValue"
            raise ValidationError("customCommissionType and customCommissionValue are sent together.", missing)

    @post_load
    def _fill(self, affiliate: dict[str, Any], **_: object) -> dict[str, Any]:
        affiliate["full_name"] = (affiliate["full_name"] or "").strip()
        affiliate["status"] = affiliate["status"] or statuses.AffiliateStatus.Approved.value
        affiliate["alias"] = affiliate["alias"] or None
        return affiliate


class LinkRecord(Wire):
    """A tracking link."""

    id = fields.UUID()
    affiliate_id = fields.UUID()
    slug = fields.String()
    custom_alias = fields.String()
    is_default = fields.Boolean()
    format = fields.String()
    created_at = Instant()


class AffiliateRecord(Wire):
    """An affiliate with `links`."""

    id = fields.UUID()
    program_id = fields.UUID()
    email = fields.String()
    full_name = fields.String()
    status = fields.String()
    custom_commission_type = fields.String()
    custom_commission_value = Amount()
    tags = fields.List(fields.String())
    notes = fields.String()
    source = fields.String()
    applied_at = Instant()
    approved_at = Instant()
    created_at = Instant()


class AffiliatesQuery(SkippingPageQuery):
    """The list of affiliates, of one program when asked."""

    program_id = fields.UUID(load_default=None)


_RECORD = AffiliateRecord()
_LINKS = LinkRecord(many=True)


def record(affiliate: Any, links: list[Any]) -> dict[str, Any]:
    """Return an affiliate with its links as the API shows it."""
    shown: dict[str, Any] = _RECORD.dump(affiliate)
    return shown | {"links": _LINKS.dump(links)}
