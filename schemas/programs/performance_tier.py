"""Performance tiers in the API: other rates from a lifetime revenue on."""

from typing import Any

from marshmallow import ValidationError, fields, validate, validates_schema

from domain.conversions.commission import CommissionType
from domain.money import money
from schemas.base import Amount, Wire, integer, one_of, rate
from schemas.collection_fields import Items

_MAX_TIERS = 20


class PerformanceTier(Wire):
    """One tier. The revenue is minor units of the current home currency, and keeps that currency."""

    wire_name = "PerformanceTierBody"

    min_revenue_cents = integer(required=True, validate=validate.Range(min=0, max=money.MAX_AMOUNT_CENTS))
    commission_type = one_of(CommissionType, required=True)
    commission_value = rate(required=True)


class PerformanceTiers(Wire):
    """All tiers of a program, in ascending order of revenue."""

    tiers = Items(fields.Nested(PerformanceTier), most=_MAX_TIERS, required=True)

    @validates_schema
    def _ascend(self, body: dict[str, Any], **_: object) -> None:
        least = [tier["min_revenue_cents"] for tier in body["tiers"]]
        for position in range(1, len(least)):
            if least[position] <= least[position - 1]:
                message = "It must be more than that of the tier before it."
                raise ValidationError({"tiers": {position: {"minRevenueCents": [message]}}})


class PerformanceTierRecord(Wire):
    """One tier, with the currency in which its revenue, and a fee per click or lead, was set."""

    min_revenue_cents = fields.Integer()
    currency = fields.String()
    commission_type = one_of(CommissionType)
    commission_value = Amount()
