"""Performance tiers on the wire: from so much lifetime revenue on, another rate."""

from typing import Any

from marshmallow import ValidationError, fields, validate, validates_schema

from domain.conversions.commission import CommissionType
from domain.money import money
from schemas.base import Amount, Wire, one_of, rate, whole
from schemas.bounded import Items

_MOST_TIERS = 20


class PerformanceTier(Wire):
    """One tier. The revenue is minor units of the home currency of now, and keeps that currency."""

    wire_name = "PerformanceTierBody"

    min_revenue_cents = whole(required=True, validate=validate.Range(min=0, max=money.MAX_AMOUNT_CENTS))
    commission_type = one_of(CommissionType, required=True)
    commission_value = rate(required=True)


class PerformanceTiers(Wire):
    """All tiers of a program, each from more revenue on than the one before it."""

    tiers = Items(fields.Nested(PerformanceTier), most=_MOST_TIERS, required=True)

    @validates_schema
    def _ascend(self, body: dict[str, Any], **_: object) -> None:
        least = [tier["min_revenue_cents"] for tier in body["tiers"]]
        for position in range(1, len(least)):
            if least[position] <= least[position - 1]:
                message = "It must be more than that of the tier before it."
                raise ValidationError({"tiers": {position: {"minRevenueCents": [message]}}})


class PerformanceTierRecord(Wire):
    """One tier as it is shown, with the currency that its revenue, and a fee per click or lead, was set in."""

    min_revenue_cents = fields.Integer()
    currency = fields.String()
    commission_type = one_of(CommissionType)
    commission_value = Amount()
