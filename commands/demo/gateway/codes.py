"""Coupons and promotion codes as stripe has them: what it takes and refuses, and what a code takes off.

Nothing is kept here, so that whoever plays stripe has one set of rules. Times are Unix seconds.
"""

import re
from collections.abc import Iterable
from typing import Any

from commands.demo.gateway import forms, words
from commands.demo.gateway.forms import Fields, InvalidField
from commands.demo.gateway.words import StripeObject

_PERCENT, _AMOUNT = "percent_off", "amount_off"
_LONGEST_NAME, _LONGEST_MONTHS = 40, 1_200
_LATEST, _MOST_REDEMPTIONS = 2**40, 2**31 - 1
_CODE = re.compile(r"[A-Za-z0-9-]{1,500}")
_MONTH_S = 2_629_800


def coupon(fields: Fields) -> StripeObject:
    """Return what a new coupon says. Raises InvalidField."""
    if (_PERCENT in fields) == (_AMOUNT in fields):
        raise InvalidField(f"You must pass either {_PERCENT} or {_AMOUNT}.", _PERCENT)
    is_amount = _AMOUNT in fields
    duration = forms.text(fields, "duration")
    if duration not in ("once", "repeating", "forever"):
        raise InvalidField("Invalid duration.", "duration")
    if (duration == "repeating") != ("duration_in_months" in fields):
        raise InvalidField("duration_in_months goes with repeating.", "duration_in_months")
    name = forms.one(fields, "name")
    if name is not None and len(name) > _LONGEST_NAME:
        raise InvalidField(f"Invalid string: name must be at most {_LONGEST_NAME} characters.", "name")
    return {
        "name": name,
        _PERCENT: None if is_amount else forms.whole(fields, _PERCENT, most=100),
        _AMOUNT: forms.cents(fields, _AMOUNT) if is_amount else None,
        "currency": forms.currency(fields, "currency") if is_amount else None,
        "duration": duration,
        "duration_in_months": _optional(fields, "duration_in_months", most=_LONGEST_MONTHS),
        "redeem_by": _optional(fields, "redeem_by", most=_LATEST),
        "applies_to": {"products": list(fields.get("applies_to[products][]", []))},
        "times_redeemed": 0,
        "metadata": forms.metadata(fields),
    }


def promotion_code(
    fields: Fields, *, coupons: Iterable[StripeObject], standing: Iterable[StripeObject]
) -> StripeObject:
    """Return what a new code of one of the coupons says, beside the codes that stand. Raises InvalidField."""
    wanted = forms.text(fields, "promotion[coupon]")
    if not any(one["id"] == wanted for one in coupons):
        raise InvalidField("No such coupon.", "promotion[coupon]")
    code = forms.text(fields, "code")
    if not _CODE.fullmatch(code):
        raise InvalidField("Invalid characters in code.", "code")
    _require_free(code, standing)
    return {
        "code": code,
        "promotion": {"type": "coupon", "coupon": wanted},
        "active": True,
        "max_redemptions": _optional(fields, "max_redemptions", most=_MOST_REDEMPTIONS),
        "expires_at": _optional(fields, "expires_at", most=_LATEST),
        "times_redeemed": 0,
        "metadata": forms.metadata(fields),
    }


def switched(promotion: StripeObject, fields: Fields, *, standing: Iterable[StripeObject]) -> StripeObject:
    """Return a code that is active, or not any more, as the call says. Raises InvalidField."""
    wanted = forms.text(fields, "active")
    if wanted not in ("true", "false"):
        raise InvalidField("Of a promotion code only active=true and active=false can be asked.", "active")
    if wanted == "true" and not promotion["active"]:
        _require_free(promotion["code"], standing)
    return {**promotion, "active": wanted == "true"}


def matching(found: Iterable[StripeObject], fields: Fields) -> list[StripeObject]:
    """Return the promotion codes that a list is asked for: of a text in letters of any size, in force or not."""
    code, active = forms.one(fields, "code"), forms.one(fields, "active")
    return [
        one
        for one in found
        if (code is None or one["code"].lower() == code.lower())
        and (active is None or one["active"] == (active == "true"))
    ]


def require_redeemable(promotion: StripeObject | None, source: StripeObject | None, *, currency: str, now: int) -> None:
    """Raise InvalidField unless a buyer can redeem a code, whose coupon is the source, for a price in a currency."""
    if promotion is None:
        raise InvalidField("No such promotion code.", "promotion_code")
    used_up = promotion["max_redemptions"] is not None and promotion["times_redeemed"] >= promotion["max_redemptions"]
    ends = [end for end in (promotion["expires_at"], source and source["redeem_by"]) if end]
    if not promotion["active"] or source is None or used_up or any(end <= now for end in ends):
        raise InvalidField("This promotion code is not redeemable: it has ended or is used up.", "promotion_code")
    if source["currency"] not in (None, currency):
        raise InvalidField(f"The coupon takes off {source['currency']}, and the price is in {currency}.", "currency")


def discount(discount_id: str, promotion: StripeObject, source: StripeObject, *, now: int) -> StripeObject:
    """Return what a subscription has from now on that redeemed a code, whatever becomes of the code."""
    months = source["duration_in_months"]
    return words.discount(discount_id, promotion=promotion["id"], source=source, start=now, end=_end(months, now))


def off(given: StripeObject, cents: int) -> int:
    """Return how many minor units of a price a discount takes off."""
    source = given["source"]["coupon"]
    if source[_AMOUNT] is not None:
        return min(cents, int(source[_AMOUNT]))
    return (cents * int(source[_PERCENT]) + 50) // 100


def is_in_force(given: StripeObject, *, now: int) -> bool:
    """Say whether a discount takes something off what is paid now."""
    return given["end"] is None or now < given["end"]


def is_for_once(given: StripeObject) -> bool:
    """Say whether a discount is over with its first payment."""
    return bool(given["source"]["coupon"]["duration"] == "once")


def _end(months: Any, now: int) -> int | None:
    return None if months is None else now + int(months) * _MONTH_S


def _require_free(code: str, standing: Iterable[StripeObject]) -> None:
    if matching(standing, {"code": [code], "active": ["true"]}):
        raise InvalidField(f"An active promotion code with `code: {code}` already exists.", "code")


def _optional(fields: Fields, name: str, *, most: int) -> int | None:
    return forms.whole(fields, name, most=most) if forms.one(fields, name) is not None else None
