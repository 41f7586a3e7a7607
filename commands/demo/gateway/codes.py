"""Coupons and promotion codes by stripe's rules: validation, redemption, and discounts.

Stateless, so that every simulation of stripe shares one set of rules. Times are Unix seconds.
"""

import re
from collections.abc import Iterable
from typing import Any

from commands.demo.gateway import forms, stripe_objects
from commands.demo.gateway.forms import Fields, InvalidField
from commands.demo.gateway.stripe_objects import StripeObject

_PERCENT, _AMOUNT = "percent_off", "amount_off"
_MAX_NAME_LENGTH, _MAX_MONTHS = 40, 1_200
_MAX_TIME, _MAX_REDEMPTIONS = 2**40, 2**31 - 1
_CODE = re.compile(r"[A-Za-z0-9-]{1,500}")
_MONTH_S = 2_629_800


def build_coupon(fields: Fields) -> StripeObject:
    """Return the fields of a new coupon. Raises InvalidField."""
    if (_PERCENT in fields) == (_AMOUNT in fields):
        raise InvalidField(f"You must pass either {_PERCENT} or {_AMOUNT}.", _PERCENT)
    is_amount = _AMOUNT in fields
    duration = forms.require_text(fields, "duration")
    if duration not in ("once", "repeating", "forever"):
        raise InvalidField("Invalid duration.", "duration")
    if (duration == "repeating") != ("duration_in_months" in fields):
        raise InvalidField("duration_in_months goes with repeating.", "duration_in_months")
    name = forms.find_text(fields, "name")
    if name is not None and len(name) > _MAX_NAME_LENGTH:
        raise InvalidField(f"Invalid string: name must be at most {_MAX_NAME_LENGTH} characters.", "name")
    return {
        "name": name,
        _PERCENT: None if is_amount else forms.require_integer(fields, _PERCENT, maximum=100),
        _AMOUNT: forms.require_cents(fields, _AMOUNT) if is_amount else None,
        "currency": forms.require_currency(fields, "currency") if is_amount else None,
        "duration": duration,
        "duration_in_months": _find_integer(fields, "duration_in_months", maximum=_MAX_MONTHS),
        "redeem_by": _find_integer(fields, "redeem_by", maximum=_MAX_TIME),
        "applies_to": {"products": list(fields.get("applies_to[products][]", []))},
        "times_redeemed": 0,
        "metadata": forms.parse_metadata(fields),
    }


def build_promotion_code(
    fields: Fields, *, coupons: Iterable[StripeObject], existing: Iterable[StripeObject]
) -> StripeObject:
    """Return the fields of a new code of one of the coupons, unique among existing codes. Raises InvalidField."""
    coupon_id = forms.require_text(fields, "promotion[coupon]")
    if not any(coupon["id"] == coupon_id for coupon in coupons):
        raise InvalidField("No such coupon.", "promotion[coupon]")
    code = forms.require_text(fields, "code")
    if not _CODE.fullmatch(code):
        raise InvalidField("Invalid characters in code.", "code")
    _require_free(code, existing)
    return {
        "code": code,
        "promotion": {"type": "coupon", "coupon": coupon_id},
        "active": True,
        "max_redemptions": _find_integer(fields, "max_redemptions", maximum=_MAX_REDEMPTIONS),
        "expires_at": _find_integer(fields, "expires_at", maximum=_MAX_TIME),
        "times_redeemed": 0,
        "metadata": forms.parse_metadata(fields),
    }


def set_active(promotion: StripeObject, fields: Fields, *, existing: Iterable[StripeObject]) -> StripeObject:
    """Return a code activated or deactivated as the call requests. Raises InvalidField."""
    active = forms.require_text(fields, "active")
    if active not in ("true", "false"):
        raise InvalidField("A promotion code takes only active=true or active=false.", "active")
    if active == "true" and not promotion["active"]:
        _require_free(promotion["code"], existing)
    return {**promotion, "active": active == "true"}


def filter_codes(promotions: Iterable[StripeObject], fields: Fields) -> list[StripeObject]:
    """Return the promotion codes that match a list request: by text in any case, by activity."""
    code, active = forms.find_text(fields, "code"), forms.find_text(fields, "active")
    return [
        promotion
        for promotion in promotions
        if (code is None or promotion["code"].lower() == code.lower())
        and (active is None or promotion["active"] == (active == "true"))
    ]


def require_redeemable(promotion: StripeObject | None, source: StripeObject | None, *, currency: str, now: int) -> None:
    """Raise InvalidField unless a code, whose coupon is the source, can be redeemed for a price in a currency."""
    if promotion is None:
        raise InvalidField("No such promotion code.", "promotion_code")
    used_up = promotion["max_redemptions"] is not None and promotion["times_redeemed"] >= promotion["max_redemptions"]
    ends = [end for end in (promotion["expires_at"], source and source["redeem_by"]) if end]
    if not promotion["active"] or source is None or used_up or any(end <= now for end in ends):
        raise InvalidField("This promotion code is not redeemable: it has ended or is used up.", "promotion_code")
    if source["currency"] not in (None, currency):
        raise InvalidField(f"The coupon takes off {source['currency']}, and the price is in {currency}.", "currency")


def build_discount(discount_id: str, promotion: StripeObject, source: StripeObject, *, now: int) -> StripeObject:
    """Return the discount of a subscription that redeems a code; later changes of the code do not affect it."""
    months = source["duration_in_months"]
    return stripe_objects.build_discount(
        discount_id, promotion=promotion["id"], source=source, start=now, end=_end_time(months, now)
    )


def discount_cents(discount: StripeObject, cents: int) -> int:
    """Return the minor units that a discount takes off a price."""
    source = discount["source"]["coupon"]
    if source[_AMOUNT] is not None:
        return min(cents, int(source[_AMOUNT]))
    return (cents * int(source[_PERCENT]) + 50) // 100


def is_in_force(discount: StripeObject, *, now: int) -> bool:
    """Return whether a discount applies to a payment made now."""
    return discount["end"] is None or now < discount["end"]


def is_single_use(discount: StripeObject) -> bool:
    """Return whether a discount applies to one payment only."""
    return bool(discount["source"]["coupon"]["duration"] == "once")


def _end_time(months: Any, now: int) -> int | None:
    return None if months is None else now + int(months) * _MONTH_S


def _require_free(code: str, existing: Iterable[StripeObject]) -> None:
    if filter_codes(existing, {"code": [code], "active": ["true"]}):
        raise InvalidField(f"An active promotion code with `code: {code}` already exists.", "code")


def _find_integer(fields: Fields, name: str, *, maximum: int) -> int | None:
    return forms.require_integer(fields, name, maximum=maximum) if forms.find_text(fields, name) is not None else None
