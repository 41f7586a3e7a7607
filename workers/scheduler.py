"""Fires what is due by the clock: the whole schedule is in this file.

A tick is a row, inserted in one transaction with the job it asks for. Any number of schedulers may run, none leads,
and no tick fires twice. Times are the database's clock, cron lines are UTC.
"""

import itertools
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

import structlog
from cronsim import CronSim

from domain import jobs
from models import db
from models.jobs import ticks
from pipelines import work

_log = structlog.get_logger(__name__)

_LOOK_EVERY_S = 1.0
# A long pause is caught up in portions, each in its own transaction.
_MOST_AT_ONCE = 100


@dataclass(frozen=True, slots=True)
class ScheduledTick:
    """One line of the schedule. After a pause `catches_up` fires every missed tick, otherwise only the latest."""

    cron: str
    job: jobs.Job
    catches_up: bool = False

    def due(self, *, last: datetime | None, now: datetime) -> list[datetime]:
        """Return the ticks after `last` up to `now`, oldest first; before the first ever, only the latest."""
        if last is not None and self.catches_up:
            missed = itertools.takewhile(lambda moment: moment <= now, CronSim(self.cron, last))
            return list(itertools.islice(missed, _MOST_AT_ONCE))
        latest = next(CronSim(self.cron, now, reverse=True))
        return [latest] if last is None or latest > last else []


SCHEDULE = (
    ScheduledTick("*/10 * * * *", jobs.FORGET),
    ScheduledTick("7 * * * *", jobs.INVITES_EXPIRE),
    ScheduledTick("53 * * * *", jobs.WEBHOOKS_FAILING),
    ScheduledTick("17 * * * *", jobs.HOLD_RELEASE),
    ScheduledTick("41 * * * *", jobs.CLICKS_FORGET),
    ScheduledTick("47 * * * *", jobs.RETENTION),
    ScheduledTick("23 4 * * *", jobs.LEADS_EXPIRE),
    # Central banks publish in the afternoon of Europe.
    ScheduledTick("30 16 * * *", jobs.FX_REFRESH),
    ScheduledTick("13 * * * *", jobs.GATEWAYS_CHECK),
    # Everything once a night, and every quarter of an hour what has no event.
    ScheduledTick("37 3 * * *", jobs.GATEWAYS_RECONCILE),
    ScheduledTick("*/15 * * * *", jobs.GATEWAYS_POLL),
    ScheduledTick("11 6 * * *", jobs.PAYOUT_CADENCE),
    ScheduledTick("*/5 * * * *", jobs.DEALS_RELEASE),
    ScheduledTick("29 * * * *", jobs.LEDGER_CHECK),
)


def run(should_stop: Callable[[], bool]) -> None:
    """Look once a second until told to stop."""
    while not should_stop():
        try:
            for entry in SCHEDULE:
                fire(entry)
        except db.UNAVAILABLE as error:
            _log.warning("scheduler.database_unavailable", error=str(error).strip())
        time.sleep(_LOOK_EVERY_S)


def fire(entry: ScheduledTick) -> int:
    """Stage the jobs of every tick that is due and nobody has fired; returns how many."""
    with db.any_org_work():
        last, now = ticks.last_and_now(entry.job.name)
        fired = 0
        for moment in entry.due(last=last, now=now):
            if ticks.fire(name=entry.job.name, scheduled_for=moment):
                work.enqueue(entry.job, organization_id=None)
                fired += 1
    return fired
