"""Fires what is due by the clock; `pipelines.schedule` has the whole schedule.

A tick is a row, inserted in one transaction with the job it asks for. Any number of schedulers may run, none leads,
and no tick fires twice. Times are the database's clock.
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
    """Look once a second until told to stop."""
    while not should_stop():
        try:
            for entry in due():
                fire(entry)
        except db.UNAVAILABLE as error:
            _log.warning("scheduler.database_unavailable", error=str(error).strip())
        time.sleep(_LOOK_EVERY_S)


def due(entries: Sequence[ScheduledTick] = schedule.SCHEDULE) -> list[ScheduledTick]:
    """Return what of the schedule has a tick to fire. Budget: 1 statement, and nothing to commit."""
    with db.read_only(), db.any_org_work():
        last, now = ticks.find_latest_by_name([entry.job.name for entry in entries])
    return [entry for entry in entries if entry.due(last=last.get(entry.job.name), now=now)]


def fire(entry: ScheduledTick) -> int:
    """Stage the jobs of every tick that is due and nobody has fired; returns how many."""
    with db.any_org_work():
        last, now = ticks.find_latest_and_now(entry.job.name)
        fired = 0
        for moment in entry.due(last=last, now=now):
            if ticks.claim(name=entry.job.name, scheduled_for=moment):
                work.enqueue(entry.job, organization_id=None)
                fired += 1
    return fired
