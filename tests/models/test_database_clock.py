"""The database's clock in a process whose machine has a different time."""

import os
import time
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from models import db, ids
from models.session.database_clock import DatabaseClock

_HOUR_NS = 3_600_000_000_000
#: Far above the error of a reading, far below the shifts.
_TOLERANCE = timedelta(minutes=5)

pytestmark = pytest.mark.usefixtures("app")


@pytest.fixture
def unread_clock(monkeypatch: pytest.MonkeyPatch) -> DatabaseClock:
    """Replace this process's clock by one that was not read yet, and return it."""
    unread_clock = DatabaseClock()
    for module in ("models.session.database.database_clock", "models.ids.database_clock"):
        monkeypatch.setattr(module, unread_clock)
    return unread_clock


@pytest.fixture(params=[_HOUR_NS, -_HOUR_NS], ids=["ahead", "behind"])
def shift_ns(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Shift this machine's time of day."""
    machine_ns = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: machine_ns() + request.param)
    return int(request.param)


def _database_time() -> datetime:
    with db.any_org_work():
        ((now,),) = db.db.run("select clock_timestamp()")
    return now  # type: ignore[no-any-return]  # the driver has no types


def test_new_connection_reads_the_databases_clock(unread_clock: DatabaseClock, shift_ns: int) -> None:
    db.db.drop_connection()

    database_time = _database_time()

    assert abs(unread_clock.now() - database_time) < _TOLERANCE


def test_transaction_reads_the_clock_before_its_first_statement(unread_clock: DatabaseClock, shift_ns: int) -> None:
    with db.any_org_work():
        assert unread_clock.is_known


def test_ids_carry_the_databases_time(unread_clock: DatabaseClock, shift_ns: int) -> None:
    database_time = _database_time()

    assert abs(ids.new_id().int >> 80) / 1000 == pytest.approx(
        database_time.timestamp(), abs=_TOLERANCE.total_seconds()
    )


def test_corrected_machine_clock_changes_no_time(unread_clock: DatabaseClock, monkeypatch: pytest.MonkeyPatch) -> None:
    database_time, machine_ns = _database_time(), time.time_ns

    monkeypatch.setattr(time, "time_ns", lambda: machine_ns() + _HOUR_NS)

    assert abs(unread_clock.now() - database_time) < _TOLERANCE


def test_corrected_database_clock_is_followed(unread_clock: DatabaseClock) -> None:
    database_time = _database_time()
    assert unread_clock._offset_ns is not None
    unread_clock._offset_ns += _HOUR_NS  # the offset before the database's clock was set back
    unread_clock._due_ns = 0

    with db.any_org_work():
        pass

    assert abs(unread_clock.now() - database_time) < _TOLERANCE


def test_agreeing_reading_does_not_change_the_offset(unread_clock: DatabaseClock) -> None:
    _database_time()
    offset_ns = unread_clock._offset_ns
    assert offset_ns is not None

    counted_ns = unread_clock.now_ns() - offset_ns
    unread_clock._apply(
        unread_clock.now_ns(), counted_ns - 2 * _HOUR_NS, counted_ns + 2 * _HOUR_NS
    )  # accurate within two hours

    assert unread_clock._offset_ns == offset_ns


def test_transactions_read_the_clock_only_when_due(unread_clock: DatabaseClock) -> None:
    readings: list[float] = []
    unread_clock.hooks.append(readings.append)
    _database_time()

    unread_clock._due_ns += _HOUR_NS
    for _ in range(20):
        _database_time()
    assert len(readings) == 1

    unread_clock._due_ns = 0
    _database_time()
    assert len(readings) == 2


def test_each_reading_reports_how_far_the_machine_is_ahead(unread_clock: DatabaseClock, shift_ns: int) -> None:
    readings: list[float] = []
    unread_clock.hooks.append(readings.append)

    _database_time()

    assert readings[0] == pytest.approx(shift_ns / 1e9, abs=_TOLERANCE.total_seconds())


def test_unread_clock_returns_the_machines_time(shift_ns: int) -> None:
    clock = DatabaseClock()

    assert abs(clock.now_ns() - time.time_ns()) < _HOUR_NS // 10


def test_first_use_reads_the_database_clock(unread_clock: DatabaseClock, shift_ns: int) -> None:
    database_time = _database_time()
    unread_clock.__init__()  # type: ignore[misc]  # as in a newly started command
    unread_clock.read_first = db.read_clock

    assert abs(unread_clock.now() - database_time) < _TOLERANCE


def test_unreachable_database_leaves_the_machines_time(
    unread_clock: DatabaseClock, shift_ns: int, tmp_path: Path
) -> None:
    db.db.drop_connection()
    db.connect_to(f"postgresql://finderfee@/finderfee?host={tmp_path}")
    unread_clock.read_first = db.read_clock
    try:
        assert abs(unread_clock.now_ns() - time.time_ns()) < _HOUR_NS // 10
        assert not unread_clock.is_known
    finally:
        db.connect_to(os.environ["DATABASE_URL"])
