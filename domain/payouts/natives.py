"""What a payout pays in the currencies that it was earned in, as text for a rail to store with the transfer.

A restored database has forgotten the lines of a payout; with these sums the payment can be booked again exactly.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from domain.money import currencies

#: The longest text that every rail with labels stores.
MAX_CHARACTERS = 500

_PART = re.compile(
    r"([A-Z]{3})=([0-9]{1,18})/([0-9]{1,18})@([0-9]{1,12}(?:\.[0-9]{1,12})?)@([0-9]{4}-[0-9]{2}-[0-9]{2})"
)


@dataclass(frozen=True, slots=True)
class NativeSum:
    """What a payout pays for conversions of one currency: native minor units, US cents, and the rate between them."""

    currency: str
    native_cents: int
    cents: int
    fx_rate: Decimal
    fx_rate_date: date


def to_text(sums: Sequence[NativeSum]) -> str:
    """Return sums as text: `EUR=1840/2000@0.92@2026-11-27`, one after another with commas between them."""
    return ",".join(
        f"{one.currency}={one.native_cents}/{one.cents}@{one.fx_rate.normalize():f}@{one.fx_rate_date}" for one in sums
    )


def from_text(text: str | None, *, total_cents: int) -> tuple[NativeSum, ...] | None:
    """Return the sums that a text names; None unless it is well-formed and they add up to `total_cents` US cents."""
    parts = [_PART.fullmatch(part) for part in (text or "").split(",")]
    try:
        sums = tuple(_sum(part) for part in parts if part is not None)
    except ValueError:  # it was changed on the rail's side
        return None
    is_whole = len(sums) == len(parts) and len({one.currency for one in sums}) == len(sums)
    return sums if is_whole and sum(one.cents for one in sums) == total_cents else None


def in_usd(cents: int, *, on: date) -> tuple[NativeSum, ...]:
    """Return the sums of a payout that was earned in US dollars alone."""
    return (NativeSum("USD", cents, cents, Decimal(1), on),)


def _sum(part: re.Match[str]) -> NativeSum:
    currency, native, cents, rate, day = part.groups()
    if currency not in currencies.EXPONENTS or not Decimal(rate):
        raise ValueError(f"{part[0]} is no sum")
    return NativeSum(currency, int(native), int(cents), Decimal(rate), date.fromisoformat(day))
