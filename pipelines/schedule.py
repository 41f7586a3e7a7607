"""The whole schedule of periodic jobs. Cron lines are UTC.

`workers.scheduler` fires the ticks; each is a row, so that an operator sees which fired and which did not.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from cronsim import CronSim

from domain import jobs
from models.jobs import ticks

# Missed ticks after a long pause are fired in batches, each in its own transaction.
_MAX_MISSED = 100
# A scheduler checks once a second; a tick overdue for this long means that no scheduler is running.
_LATE_AFTER = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class ScheduledTick:
    """One line of the schedule. After a pause `catches_up` fires every missed tick, otherwise only the latest."""

    cron: str
    job: jobs.Job
    catches_up: bool = False

    def due_times(self, *, last: datetime | None, now: datetime) -> list[datetime]:
        """Return the ticks after `last` up to `now`, oldest first; before the first ever, only the latest."""
        if last is not None and self.catches_up:
            missed = itertools.takewhile(lambda time: time <= now, CronSim(self.cron, last))
            return list(itertools.islice(missed, _MAX_MISSED))
        latest = next(CronSim(self.cron, now, reverse=True))
        return [latest] if last is None or latest > last else []


SCHEDULE = (
    ScheduledTick("*/10 * * * *", jobs.FORGET),
    ScheduledTick("*/5 * * * *", jobs.DOMAINS_CHECK),
    ScheduledTick("*/5 * * * *", jobs.DAYS_FOLD),
    ScheduledTick("7 * * * *", jobs.INVITES_EXPIRE),
    ScheduledTick("53 * * * *", jobs.WEBHOOKS_FAILING),
    ScheduledTick("17 * * * *", jobs.HOLD_RELEASE),
    ScheduledTick("41 * * * *", jobs.CLICKS_FORGET),
    ScheduledTick("47 * * * *", jobs.RETENTION),
    ScheduledTick("51 * * * *", jobs.SWITCH_FORGET),
    ScheduledTick("23 4 * * *", jobs.LEADS_EXPIRE),
    ScheduledTick("19 2 * * *", jobs.PARTITIONS),
    # Central banks publish in the afternoon of Europe.
    ScheduledTick("30 16 * * *", jobs.FX_REFRESH),
    ScheduledTick("13 * * * *", jobs.GATEWAYS_CHECK),
    # All payments once a night; every quarter of an hour those that gateways send no event for.
    ScheduledTick("37 3 * * *", jobs.GATEWAYS_RECONCILE),
    ScheduledTick("*/15 * * * *", jobs.GATEWAYS_POLL),
    ScheduledTick("11 6 * * *", jobs.PAYOUT_CADENCE),
    ScheduledTick("*/5 * * * *", jobs.DEALS_RELEASE),
    ScheduledTick("29 * * * *", jobs.LEDGER_CHECK),
)


@dataclass(frozen=True, slots=True)
class ScheduleLine:
    """A line of the schedule with its last tick (None: never) and its next, and whether one is overdue."""

    name: str
    cron: str
    last_at: datetime | None
    next_at: datetime
    is_late: bool


def list_lines() -> Sequence[ScheduleLine]:
    """Return the schedule with its status by the database's clock. Budget: 1 statement."""
    last, now = ticks.find_all_latest()
    return [_line(entry, last.get(entry.job.name), now) for entry in SCHEDULE]


def _line(entry: ScheduledTick, last: datetime | None, now: datetime) -> ScheduleLine:
    return ScheduleLine(
        name=entry.job.name,
        cron=entry.cron,
        last_at=last,
        next_at=next(CronSim(entry.cron, now)),
        is_late=bool(entry.due_times(last=last, now=now - _LATE_AFTER)),
    )
