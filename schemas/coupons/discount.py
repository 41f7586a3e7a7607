"""What a discount takes off, in the body of a coupon or of a code. Source: tracking spec, "Campaign coupon"."""

from typing import Any

from marshmallow import ValidationError

from domain.coupons.discounts import DiscountType
from domain.money import currencies


def check(sent: dict[str, Any]) -> None:
    """Raise ValidationError where type, value and currency of a discount do not fit together."""
    if sent.get("discount_type") == DiscountType.PercentOff and sent.get("discount_value", 1) > 100:
        raise ValidationError("It must be 1 to 100 percent.", "discountValue")
    if sent.get("discount_type") == DiscountType.AmountOff:
        currency = sent.get("discount_currency")
        if currency is None:
            raise ValidationError("AmountOff needs the currency that it is in.", "discountCurrency")
        if currencies.normalize(currency) is None:
            raise ValidationError("It must be a supported ISO 4217 code.", "discountCurrency")


def currency_of(sent: dict[str, Any]) -> str | None:
    """Return the currency of a discount that was checked; percents have none."""
    is_amount = sent["discount_type"] == DiscountType.AmountOff
    return currencies.normalize(sent["discount_currency"]) if is_amount else None
