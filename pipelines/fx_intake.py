"""Reference exchange rates: loaded from files and from the feed, and how old they are.

A rate that is published again replaces the earlier one. Past payouts keep theirs: every payout line stores the rate and
the day that it was paid by.
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

# Rates per statement; a history of decades is a few dozen statements.
_BATCH = 5_000


@dataclass(frozen=True, slots=True)
class LoadResult:
    """Counts of a loaded file: new rates, rates that replaced another number, and unchanged ones."""

    new: int
    replaced: int
    unchanged: int
    newest: date
    skipped: Sequence[str]


def read(content: bytes, *, now: datetime) -> RateFile:
    """Return the rates of a file; touches no database. Raises BadRates."""
    return fx_files.read(content, today=_day(now))


def store(file: RateFile, *, on_progress: Callable[[int], None] = lambda number: None) -> LoadResult:
    """Store the rates of a file; `on_progress` gets how many were written in each step.

    Stages a job that recomputes what is owed since the first of them.
    """
    new = replaced = 0
    # In one order, so that two loads at the same time wait for each other instead of deadlocking.
    rates = sorted(file.rates, key=lambda rate: (rate.on, rate.currency))
    for first in range(0, len(rates), _BATCH):
        portion = rates[first : first + _BATCH]
        added, changed = fx_rates.upsert(portion)
        new, replaced = new + added, replaced + changed
        on_progress(len(portion))
    if new or replaced:
        work.enqueue(jobs.DAYS_RECKON, organization_id=None, since=rates[0].on)
    return LoadResult(new, replaced, len(rates) - new - replaced, rates[-1].on, file.skipped)


@dataclass(frozen=True, slots=True)
class RateAge:
    """Age in days of the newest rate of a currency; both fields are None if it has no rate."""

    currency: str
    newest: date | None
    days: int | None

    @property
    def is_stale(self) -> bool:
        """Whether nothing can be paid in this currency today."""
        return self.days is None or self.days > valuation.FRESH_DAYS


def any_org_list_ages(*, now: datetime) -> list[RateAge]:
    """Return the rate age of every currency that any organization holds money in or reports in, oldest first.

    The dollar needs no rate.
    """
    today = _day(now)
    ages = [
        RateAge(currency, newest, None if newest is None else (today - newest).days)
        for currency, newest in fx_rates.any_org_list_used_currencies(today=today)
        if currency != "USD"
    ]
    return sorted(ages, key=lambda age: (age.days is not None, -(age.days or 0), age.currency))


def enqueue_refresh() -> None:
    """Stage a job that fetches the feed now. Raises Refused 409 no_feed."""
    if feed_url() is None:
        raise Refused(409, "no_feed", "There is no feed of rates: FX_FEED_URL is not set. Load a file.")
    work.enqueue(jobs.FX_REFRESH, organization_id=None)


def feed_url() -> str | None:
    """Return the feed's URL, None without a feed."""
    return settings.current().rates.feed_url


def fetch(url: str, *, now: datetime) -> RateFile:
    """Return the rates fetched from a URL; never inside a transaction. Raises FeedUnavailable, BadRates."""
    return read(fx_feed.fetch(url), now=now)


def store_from_feed(file: RateFile) -> None:
    """Store rates from the feed, and log the result."""
    result = store(file)
    _log.info("fx.refreshed", new=result.new, replaced=result.replaced, newest=str(result.newest))


def first_fresh_day(now: datetime) -> date:
    """Return the first day whose rates are still fresh."""
    return _day(now) - timedelta(days=valuation.FRESH_DAYS)


def _day(time: datetime) -> date:
    return time.astimezone(UTC).date()
