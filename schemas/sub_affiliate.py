"""The sub-affiliate setting of a program on the wire.

Source: tracking spec, "Sub-affiliate config" and "PUT config failures".
"""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from marshmallow import ValidationError

from domain.refused import Refused
from schemas.base import Amount, Flag, Wire, decimals


class SubAffiliateConfig(Wire):
    """Whether recruiting pays, and how many percent of a recruit's commission."""

    enabled = Flag(attribute="sub_affiliate_enabled")
    percent = Amount(attribute="sub_affiliate_percent")


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
