"""Fires the ticks that are due by the clock; `pipelines.schedule` has the whole schedule.

A tick is a row, inserted in one transaction with its job. Any number of schedulers may run, without a leader,
and no tick fires twice. Times are those of the database's clock.
"""

import time
from collections.abc import Callable, Sequence

import structlog

from models import db
from models.jobs import ticks
from pipelines import schedule, work
from pipelines.schedule import ScheduledTick

_log = structlog.get_logger(__name__)

_LOOK_EVERY_S = 1.0


def run(should_stop: Callable[[], bool]) -> None:
    """Look once a second until `should_stop` returns True."""
    while not should_stop():
        try:
            for entry in due_entries():
                fire(entry)
        except db.UNAVAILABLE as error:
            _log.warning("scheduler.database_unavailable", error=str(error).strip())
        time.sleep(_LOOK_EVERY_S)


def due_entries(entries: Sequence[ScheduledTick] = schedule.SCHEDULE) -> list[ScheduledTick]:
    """Return the entries of the schedule that have a tick to fire. Budget: 1 statement, and nothing to commit."""
    with db.read_only(), db.any_org_work():
        last, now = ticks.find_latest_by_name([entry.job.name for entry in entries])
    return [entry for entry in entries if entry.due_times(last=last.get(entry.job.name), now=now)]


def fire(entry: ScheduledTick) -> int:
    """Stage the jobs of every due tick that no other scheduler has fired, and return how many."""
    with db.any_org_work():
        last, now = ticks.find_latest_and_now(entry.job.name)
        fired = 0
        for time_due in entry.due_times(last=last, now=now):
            if ticks.claim(name=entry.job.name, scheduled_for=time_due):
                work.enqueue(entry.job, organization_id=None)
                fired += 1
    return fired
