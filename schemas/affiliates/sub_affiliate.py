"""Sub-affiliate recruiting on the wire: the setting of a program, the link that recruits, and the recruits.

Source: tracking spec, "Sub-affiliate config", "PUT config failures", "Override conversion" (recruit records).
"""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from marshmallow import ValidationError, fields

from domain import statuses
from domain.refused import Refused
from schemas.base import NEEDED, Amount, Flag, Instant, Wire, decimals, one_of


class SubAffiliateConfig(Wire):
    """Whether recruiting pays, and how many percent of a recruit's commission."""

    enabled = Flag(attribute="sub_affiliate_enabled", metadata=NEEDED)
    percent = Amount(attribute="sub_affiliate_percent", metadata=NEEDED)


def load(sent: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the columns that a PUT body sets, both of them.

    Raises Refused 400: body_required, unsupported_value.
    """
    if not sent:
        raise Refused(400, "body_required", "A JSON object with enabled and percent is required.")
    enabled = sent.get("enabled")
    if not isinstance(enabled, bool):
        raise Refused(400, "unsupported_value", "enabled must be true or false.", field="enabled")
    return {"sub_affiliate_enabled": enabled, "sub_affiliate_percent": _percent(sent.get("percent"))}


def _percent(sent: object) -> Decimal:
    try:
        percent: Decimal = Amount().deserialize(sent)
    except ValidationError:
        percent = Decimal(-1)
    if not 0 <= percent <= 100 or decimals(percent) > 4:
        message = "percent must be a number from 0 to 100 with at most 4 decimals."
        raise Refused(400, "unsupported_value", message, field="percent")
    return percent


class LinkQuery(Wire):
    """Which campaign the recruiting link is for; missing and malformed are refused alike, with a code."""

    program_id = fields.String(load_default="", metadata={"format": "uuid", **NEEDED})


class RecruitingLink(Wire):
    """The address that an affiliate shares to recruit for one campaign."""

    affiliate_id = fields.UUID()
    program_id = fields.UUID()
    program_slug = fields.String()
    url = fields.String()


class Unconvertible(Wire):
    """Native minor units of one currency that no rate of the day could value."""

    commission_cents = fields.Integer()
    override_cents = fields.Integer()


class RecruitRecord(Wire):
    """A recruit, as the affiliate who recruited them sees it. Sums are net, in `currency`."""

    affiliate_id = fields.UUID(attribute="id")
    email = fields.String()
    full_name = fields.String()
    status = one_of(statuses.AffiliateStatus)
    total_commission_generated_cents = fields.Integer(attribute="commission_cents")
    override_earned_cents = fields.Integer(attribute="override_cents")
    currency = fields.String()
    joined_at = Instant(attribute="created_at")
    unconvertible_by_currency = fields.Dict(
        keys=fields.String(), values=fields.Nested(Unconvertible), attribute="unvalued"
    )


class SubAffiliateRecord(Wire):
    """A recruit, as the brand sees it. Sums are net, in `currency`."""

    id = fields.UUID()
    email = fields.String()
    full_name = fields.String()
    status = one_of(statuses.AffiliateStatus)
    total_commission_cents = fields.Integer(attribute="commission_cents")
    override_earned_cents = fields.Integer(attribute="override_cents")
    currency = fields.String()
    unconvertible_by_currency = fields.Dict(
        keys=fields.String(), values=fields.Nested(Unconvertible), attribute="unvalued"
    )
