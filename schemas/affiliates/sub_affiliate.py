"""Sub-affiliate recruiting in the API: the setting of a program, the link that recruits, and the recruits.

Source: tracking spec, "Sub-affiliate config", "PUT config failures", "Override conversion" (recruit records).
"""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from marshmallow import ValidationError, fields

from domain import statuses
from domain.refusals import Refused
from schemas.base import NEEDED, Amount, Flag, Instant, Wire, decimals, one_of


class SubAffiliateConfig(Wire):
    """Whether recruiting pays, and the percentage of a recruit's commission."""

    enabled = Flag(attribute="sub_affiliate_enabled", metadata=NEEDED)
    percent = Amount(attribute="sub_affiliate_percent", metadata=NEEDED)


def load(body: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return both columns that a PUT body sets.

    Raises Refused 400: body_required, unsupported_value.
    """
    if not body:
        raise Refused(400, "body_required", "A JSON object with enabled and percent is required.")
    enabled = body.get("enabled")
    if not isinstance(enabled, bool):
        raise Refused(400, "unsupported_value", "enabled must be true or false.", field="enabled")
    return {"sub_affiliate_enabled": enabled, "sub_affiliate_percent": _percent(body.get("percent"))}


def _percent(value: object) -> Decimal:
    try:
        percent: Decimal = Amount().deserialize(value)
    except ValidationError:
        percent = Decimal(-1)
    if not 0 <= percent <= 100 or decimals(percent) > 4:
        message = "percent must be a number from 0 to 100 with at most 4 decimals."
        raise Refused(400, "unsupported_value", message, field="percent")
    return percent


class LinkQuery(Wire):
    """The campaign of the recruiting link; a missing and a malformed id get the same refusal code."""

    program_id = fields.String(load_default="", metadata={"format": "uuid", **NEEDED})


class RecruitingLink(Wire):
    """The URL that an affiliate shares to recruit for one campaign."""

    affiliate_id = fields.UUID()
    program_id = fields.UUID()
    program_slug = fields.String()
    url = fields.String()


class Unconvertible(Wire):
    """Native minor units of one currency without a rate for the day."""

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
