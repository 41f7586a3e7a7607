"""The schedule on a real database: each tick fires once, in any number of schedulers."""

import dataclasses
from datetime import UTC, datetime, timedelta

import pytest

from domain import jobs
from models import db
from models.jobs import ticks
from pipelines import schedule, upkeep
from pipelines.schedule import ScheduledTick
from tests.support.api.concurrency import run_concurrently
from workers import scheduler

# None becomes due during a test: no test starts just before the end of an hour.
_DAILY = ScheduledTick("0 0 * * *", jobs.FORGET)
_CATCHING_UP = ScheduledTick("*/10 * * * *", jobs.FORGET, catches_up=True)
_LATEST_ONLY = ScheduledTick("*/10 * * * *", jobs.FORGET)


def _time_of_day(clock: str) -> datetime:
    return datetime.fromisoformat(f"2026-03-01T{clock}+00:00")


def _count_jobs() -> int:
    with db.any_org_work():
        return db.db.row("select count(*) from job where name = 'upkeep.forget'")[0]


def _database_now() -> datetime:
    with db.any_org_work():
        return db.db.row("select now()")[0]


def test_twelve_concurrent_schedulers_fire_a_tick_once(app):
    fired = run_concurrently(*[lambda: scheduler.fire(_DAILY)] * 12)

    assert sorted(fired) == [0] * 11 + [1]
    assert _count_jobs() == 1


def test_twelve_concurrent_schedulers_fire_every_missed_tick_once(app):
    latest = _database_now().replace(hour=0, minute=0, second=0, microsecond=0)
    with db.any_org_work():
        ticks.claim(name="upkeep.forget", scheduled_for=latest - timedelta(days=5))
    entry = dataclasses.replace(_DAILY, catches_up=True)

    fired = run_concurrently(*[lambda: scheduler.fire(entry)] * 12)

    assert sum(fired) == 5
    assert _count_jobs() == 5


def test_fired_tick_is_not_fired_again(app):
    first = scheduler.fire(_DAILY)
    second = scheduler.fire(_DAILY)

    assert (first, second) == (1, 0)
    assert _count_jobs() == 1


def test_tick_and_its_job_commit_together(app):
    def fail(statements: bytes):
        if b"insert into job" in statements or b"commit" in statements:
            raise ZeroDivisionError

    db.db.trip_hooks.append(fail)
    try:
        with pytest.raises(ZeroDivisionError):
            scheduler.fire(_LATEST_ONLY)
    finally:
        db.db.trip_hooks.remove(fail)

    assert _count_jobs() == 0
    assert scheduler.fire(_LATEST_ONLY) == 1


@pytest.mark.parametrize(
    ("entry", "last", "now", "due"),
    [
        (_LATEST_ONLY, None, "10:25:00", ["10:20:00"]),
        (_CATCHING_UP, None, "10:25:00", ["10:20:00"]),
        (_LATEST_ONLY, "10:20:00", "10:29:59", []),
        (_CATCHING_UP, "10:20:00", "10:29:59", []),
        (_LATEST_ONLY, "10:20:00", "10:30:01", ["10:30:00"]),
        (_CATCHING_UP, "10:20:00", "10:30:00", ["10:30:00"]),
        (_LATEST_ONLY, "10:00:00", "10:45:00", ["10:40:00"]),
        (_CATCHING_UP, "10:00:00", "10:45:00", ["10:10:00", "10:20:00", "10:30:00", "10:40:00"]),
        (_LATEST_ONLY, "10:40:00", "10:05:00", []),  # the clock went back
        (_CATCHING_UP, "10:40:00", "10:05:00", []),
    ],
)
def test_latest_or_every_missed_tick_is_due_by_entry(entry, last, now, due):
    times = entry.due_times(last=_time_of_day(last) if last else None, now=_time_of_day(now))

    assert times == [_time_of_day(time_text) for time_text in due]


def test_due_entries_have_a_tick_to_fire(app):
    rare = ScheduledTick("0 0 29 2 *", jobs.FX_REFRESH)

    before = scheduler.due_entries((_LATEST_ONLY, rare))
    scheduler.fire(rare)
    due_after_rare = scheduler.due_entries((_LATEST_ONLY, rare))

    assert before == [_LATEST_ONLY, rare]
    assert due_after_rare == [_LATEST_ONLY]


def test_scheduler_poll_is_one_round_trip(app):
    scheduler.due_entries()
    trips: list[bytes] = []
    db.db.trip_hooks.append(trips.append)
    try:
        scheduler.due_entries()
    finally:
        db.db.trip_hooks.remove(trips.append)

    assert len(trips) == 1


def test_ticks_use_utc_and_the_database_clock(app):
    scheduler.fire(_LATEST_ONLY)

    with db.any_org_work():
        scheduled_for, age_s = db.db.row(
            "select scheduled_for, extract(epoch from now() - scheduled_for)::int from tick"
        )

    assert scheduled_for.utcoffset() == timedelta(0)
    assert scheduled_for.minute % 10 == 0
    assert 0 <= age_s <= 601


def test_ticks_ignore_the_machine_clock(app, monkeypatch):
    class Wrong(datetime):
        @classmethod
        def now(cls, tz=None):
            return datetime(2001, 1, 1, tzinfo=tz)

    monkeypatch.setattr(schedule, "datetime", Wrong)
    monkeypatch.setattr("time.time", lambda: 0.0)

    scheduler.fire(_LATEST_ONLY)
    with db.any_org_work():
        (scheduled_for,) = db.db.row("select scheduled_for from tick")

    assert scheduled_for > datetime(2026, 1, 1, tzinfo=UTC)


def test_latest_tick_of_rare_entry_is_never_deleted(app):
    with db.any_org_work():
        for days in (100, 62, 31):
            time_text = datetime.now(UTC) - timedelta(days=days)
            ticks.claim(name="month.close", scheduled_for=time_text)
    with db.any_org_work():
        upkeep.delete_expired()

    with db.any_org_work():
        ages = db.db.run("select extract(day from now() - scheduled_for)::int from tick")

    assert ages == [(31,)]


def test_scheduler_survives_unavailable_database(app, tmp_path, monkeypatch):
    from adapters import servers

    monkeypatch.setattr(scheduler, "_LOOK_EVERY_S", 0.01)
    rounds = []

    def should_stop():
        rounds.append(1)
        db.db.drop_connection()
        is_away = len(rounds) < 3
        db.connect_to(f"postgresql://finderfee@/finderfee?host={tmp_path}" if is_away else servers.urls().database_url)
        return len(rounds) > 4

    scheduler.run(should_stop)

    with db.any_org_work():
        (fired,) = db.db.row("select count(*) from tick where name = 'upkeep.forget'")
    assert _count_jobs() == fired > 0  # one, or two if a ten-minute tick passed during the test
