"""The sums of a payout in the currencies in which they were earned, as text that a rail stores with the transfer.

A restored database may lack the lines of a payout; with these sums the payment can be booked again exactly.
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
    """The sum of a payout for conversions of one currency: native minor units, US cents, and the rate between them."""

    currency: str
    native_cents: int
    cents: int
    fx_rate: Decimal
    fx_rate_date: date


def to_text(sums: Sequence[NativeSum]) -> str:
    """Return sums as text: `EUR=1840/2000@0.92@2026-11-27`, separated by commas."""
    return ",".join(
        f"{entry.currency}={entry.native_cents}/{entry.cents}@{entry.fx_rate.normalize():f}@{entry.fx_rate_date}"
        for entry in sums
    )


def from_text(text: str | None, *, total_cents: int) -> tuple[NativeSum, ...] | None:
    """Return the sums in a text; None unless it is valid and they add up to `total_cents` US cents."""
    parts = [_PART.fullmatch(part) for part in (text or "").split(",")]
    try:
        sums = tuple(_sum(part) for part in parts if part is not None)
    except ValueError:  # the text was changed at the rail
        return None
    is_whole = len(sums) == len(parts) and len({entry.currency for entry in sums}) == len(sums)
    return sums if is_whole and sum(entry.cents for entry in sums) == total_cents else None


def usd_sums(cents: int, *, on: date) -> tuple[NativeSum, ...]:
    """Return the sums of a payout that was earned only in US dollars."""
    return (NativeSum("USD", cents, cents, Decimal(1), on),)


def _sum(part: re.Match[str]) -> NativeSum:
    currency, native, cents, rate, day = part.groups()
    if currency not in currencies.EXPONENTS or not Decimal(rate):
        raise ValueError(f"{part[0]} is not a sum")
    return NativeSum(currency, int(native), int(cents), Decimal(rate), date.fromisoformat(day))
