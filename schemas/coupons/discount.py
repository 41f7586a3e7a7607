"""The discount in the body of a coupon or of a code. Source: tracking spec, "Campaign coupon"."""

from typing import Any

from marshmallow import ValidationError

from domain.coupons.discounts import DiscountType
from domain.money import currencies


def check(body: dict[str, Any]) -> None:
    """Raise ValidationError if type, value and currency of a discount contradict each other."""
    if body.get("discount_type") == DiscountType.PercentOff and body.get("discount_value", 1) > 100:
        raise ValidationError("It must be 1 to 100 percent.", "discountValue")
    if body.get("discount_type") == DiscountType.AmountOff:
        currency = body.get("discount_currency")
        if currency is None:
            raise ValidationError("AmountOff needs a currency.", "discountCurrency")
        if currencies.normalize(currency) is None:
            raise ValidationError("It must be a supported ISO 4217 code.", "discountCurrency")


def currency_of(body: dict[str, Any]) -> str | None:
    """Return the currency of a valid discount; percents have none."""
    is_amount = body["discount_type"] == DiscountType.AmountOff
    return currencies.normalize(body["discount_currency"]) if is_amount else None
