"""Exact factors that value amounts of many days and currencies in one home currency.

Source: core spec, campaign statistics (each conversion valued at the stored rate of its date). A rate counts on the
day of its publication and the three days after it, unless a newer one was published.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction

from domain.money.currencies import exponent

#: For how many days after its publication a rate is valid.
FRESH_DAYS = 3


@dataclass(frozen=True, slots=True)
class PublishedRate:
    """A rate as it was published: major units of the currency per 1 USD."""

    currency: str
    on: date
    per_usd: Decimal


@dataclass(frozen=True, slots=True)
class Factors:
    """The factors that convert minor units of a currency and a day into minor units of the home currency.

    `rows` has a row per currency with a fraction per day, from `first_day` on; None where a rate is missing.
    """

    home: str
    currencies: Sequence[str]
    first_day: date
    rows: Sequence[Sequence[Fraction | None]]


def compute_factors(*, home: str, currencies: Iterable[str], published: Iterable[PublishedRate]) -> Factors:
    """Return the factors of every currency but the home one, for the days that the published rates cover."""
    foreign = sorted(set(currencies) - {home})
    by_day = _index_by_day(published)
    days = sorted({day for _, day in by_day})
    first = days[0] if days else date.min
    span = [first + timedelta(days=n) for n in range((days[-1] - first).days + 1)] if days else []
    homes = {day: _minor_per_usd(home, day, by_day) for day in span}
    rows = [[_factor(_minor_per_usd(native, day, by_day), homes[day]) for day in span] for native in foreign]
    return Factors(home, foreign, first, rows)


def _index_by_day(published: Iterable[PublishedRate]) -> dict[tuple[str, date], Decimal]:
    by_day = {}
    for rate in sorted(published, key=lambda rate: rate.on):
        for age in range(FRESH_DAYS + 1):
            by_day[rate.currency, rate.on + timedelta(days=age)] = rate.per_usd
    return by_day


def _minor_per_usd(currency: str, day: date, by_day: dict[tuple[str, date], Decimal]) -> Fraction | None:
    rate = Decimal(1) if currency == "USD" else by_day.get((currency, day))
    return None if rate is None else Fraction(rate) * 10 ** exponent(currency)


def _factor(native: Fraction | None, home: Fraction | None) -> Fraction | None:
    return None if native is None or home is None else home / native
