"""What a coupon or a code takes off, as a person types it into a form."""

from collections.abc import Mapping
from typing import Any

from domain.money import currencies
from pages import form_values
from pages.times import time_fields


def discount(form: Mapping[str, str]) -> dict[str, Any]:
    """Return value and currency for the body: whole percents, or an amount typed in major units of its currency."""
    value, currency = form.get("discountValue", ""), currencies.normalize(form.get("discountCurrency", ""))
    if form.get("discountType") != "AmountOff":
        return {"discountValue": form_values.parse_number(value)}
    if currency is None:
        return {"discountValue": 1, "discountCurrency": form.get("discountCurrency") or None}
    return {"discountValue": form_values.parse_amount(value, currency), "discountCurrency": currency}


def expiry(form: Mapping[str, str]) -> str | None:
    """Return the end of the chosen day in the organization's time zone; None where none was chosen."""
    return time_fields.parse_day_end(form.get("expiresAt") or None)
