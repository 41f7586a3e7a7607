"""Reference rates: taken in from files and from the feed, and how old they are.

A rate that is published again replaces the one before. What was paid by it keeps it: every line of a payout holds the
rate and the day that it was paid by.
Source: core spec, "Payouts" (fresh stored rate); a rate counts on its day and the three days after.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

import structlog

import settings
from adapters import fx_feed
from domain import jobs
from domain.money import fx_files, valuation
from domain.money.fx_files import RateFile
from domain.refusals import Refused
from models.money import fx_rates
from pipelines import work

_log = structlog.get_logger(__name__)

# One statement writes so many; a history of decades is a few dozen of them.
_AT_ONCE = 5_000


@dataclass(frozen=True, slots=True)
class Loaded:
    """What came of a file: rates that are new, that replaced another number, and that were known already."""

    new: int
    replaced: int
    known: int
    newest: date
    skipped: Sequence[str]


def read(content: bytes, *, now: datetime) -> RateFile:
    """Return the rates of a file; touches no database. Raises BadRates."""
    return fx_files.read(content, today=_day(now))


def store(found: RateFile, *, tell: Callable[[int], None] = lambda number: None) -> Loaded:
    """Store the rates of a file; `tell` hears how many were written at each step.

    What is owed since the first of them is reckoned anew.
    """
    new = replaced = 0
    # In one order, so that two that load at once wait for each other and do not lock each other out.
    rates = sorted(found.rates, key=lambda rate: (rate.on, rate.currency))
    for first in range(0, len(rates), _AT_ONCE):
        portion = rates[first : first + _AT_ONCE]
        added, changed = fx_rates.upsert(portion)
        new, replaced = new + added, replaced + changed
        tell(len(portion))
    if new or replaced:
        work.enqueue(jobs.DAYS_RECKON, organization_id=None, since=rates[0].on)
    return Loaded(new, replaced, len(rates) - new - replaced, rates[-1].on, found.skipped)


@dataclass(frozen=True, slots=True)
class Age:
    """How old the newest rate of a currency is, in days; both None: it has none."""

    currency: str
    newest: date | None
    days: int | None

    @property
    def is_stale(self) -> bool:
        """Whether nothing can be paid in this currency today."""
        return self.days is None or self.days > valuation.FRESH_DAYS


def any_org_ages(*, now: datetime) -> list[Age]:
    """Return the age of every currency that some organization has money in or counts in, the oldest first.

    The dollar needs no rate.
    """
    today = _day(now)
    ages = [
        Age(currency, newest, None if newest is None else (today - newest).days)
        for currency, newest in fx_rates.any_org_newest_in_use(today=today)
        if currency != "USD"
    ]
    return sorted(ages, key=lambda age: (age.days is not None, -(age.days or 0), age.currency))


def ask_feed() -> None:
    """Stage a job that asks the feed now. Raises Refused 409 no_feed."""
    if feed_url() is None:
        raise Refused(409, "no_feed", "There is no feed of rates: FX_FEED_URL is not set. Load a file.")
    work.enqueue(jobs.FX_REFRESH, organization_id=None)


def feed_url() -> str | None:
    """Return where the feed is, None without a feed."""
    return settings.current().rates.feed_url


def fetch(url: str, *, now: datetime) -> RateFile:
    """Return the rates that a URL answers; never inside a transaction. Raises FeedAway, BadRates."""
    return read(fx_feed.fetch(url), now=now)


def take_in(found: RateFile) -> None:
    """Store what the feed said."""
    loaded = store(found)
    _log.info("fx.refreshed", new=loaded.new, replaced=loaded.replaced, newest=str(loaded.newest))


def fresh_since(now: datetime) -> date:
    """Return the first day whose rates still count."""
    return _day(now) - timedelta(days=valuation.FRESH_DAYS)


def _day(moment: datetime) -> date:
    return moment.astimezone(UTC).date()
