"""The database's clock, as a process knows it whose machine has another time of day."""

import os
import time
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from models import db, ids
from models.session.database_clock import DatabaseClock

_HOUR_NS = 3_600_000_000_000
#: Far more than a reading is off on any machine, far less than the shifts.
_NEAR = timedelta(minutes=5)

pytestmark = pytest.mark.usefixtures("app")


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> DatabaseClock:
    """Return a clock that was not read yet, in place of this process's."""
    fresh = DatabaseClock()
    for module in ("models.session.database.database_clock", "models.ids.database_clock"):
        monkeypatch.setattr(module, fresh)
    return fresh


@pytest.fixture(params=[_HOUR_NS, -_HOUR_NS], ids=["ahead", "behind"])
def shift_ns(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Shift this machine's time of day."""
    true_ns = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: true_ns() + request.param)
    return int(request.param)


def _database_time() -> datetime:
    with db.any_org_work():
        ((now,),) = db.db.run("select clock_timestamp()")
    return now  # type: ignore[no-any-return]  # the driver has no types


def test_new_connection_reads_the_databases_clock(fresh: DatabaseClock, shift_ns: int) -> None:
    db.db.drop_connection()

    true = _database_time()

    assert abs(fresh.now() - true) < _NEAR


def test_transaction_reads_the_clock_before_its_first_statement(fresh: DatabaseClock, shift_ns: int) -> None:
    with db.any_org_work():
        assert fresh.is_known


def test_ids_carry_the_databases_time(fresh: DatabaseClock, shift_ns: int) -> None:
    true = _database_time()

    assert abs(ids.new_id().int >> 80) / 1000 == pytest.approx(true.timestamp(), abs=_NEAR.total_seconds())


def test_corrected_machine_clock_changes_no_time(fresh: DatabaseClock, monkeypatch: pytest.MonkeyPatch) -> None:
    true, true_ns = _database_time(), time.time_ns

    monkeypatch.setattr(time, "time_ns", lambda: true_ns() + _HOUR_NS)

    assert abs(fresh.now() - true) < _NEAR


def test_corrected_database_clock_is_followed(fresh: DatabaseClock) -> None:
    true = _database_time()
    assert fresh._offset_ns is not None
    fresh._offset_ns += _HOUR_NS  # as it was known before the database's clock went back
    fresh._due_ns = 0

    with db.any_org_work():
        pass

    assert abs(fresh.now() - true) < _NEAR


def test_readings_that_agree_do_not_move_the_time(fresh: DatabaseClock) -> None:
    _database_time()
    offset_ns = fresh._offset_ns
    assert offset_ns is not None

    counted_ns = fresh.now_ns() - offset_ns
    fresh._apply(fresh.now_ns(), counted_ns - 2 * _HOUR_NS, counted_ns + 2 * _HOUR_NS)  # good for two hours either way

    assert fresh._offset_ns == offset_ns


def test_transactions_read_the_clock_only_when_due(fresh: DatabaseClock) -> None:
    readings: list[float] = []
    fresh.hooks.append(readings.append)
    _database_time()

    fresh._due_ns += _HOUR_NS
    for _ in range(20):
        _database_time()
    assert len(readings) == 1

    fresh._due_ns = 0
    _database_time()
    assert len(readings) == 2


def test_each_reading_reports_how_far_the_machine_is_ahead(fresh: DatabaseClock, shift_ns: int) -> None:
    readings: list[float] = []
    fresh.hooks.append(readings.append)

    _database_time()

    assert readings[0] == pytest.approx(shift_ns / 1e9, abs=_NEAR.total_seconds())


def test_the_machines_time_counts_until_the_clock_was_read(shift_ns: int) -> None:
    unread = DatabaseClock()

    assert abs(unread.now_ns() - time.time_ns()) < _HOUR_NS // 10


def test_first_use_of_an_unread_clock_reads_it(fresh: DatabaseClock, shift_ns: int) -> None:
    true = _database_time()
    fresh.__init__()  # type: ignore[misc]  # as in a command that has just started
    fresh.read_first = db.read_clock

    assert abs(fresh.now() - true) < _NEAR


def test_unreachable_database_leaves_the_machines_time(fresh: DatabaseClock, shift_ns: int, tmp_path: Path) -> None:
    db.db.drop_connection()
    db.connect_to(f"postgresql://finderfee@/finderfee?host={tmp_path}")
    fresh.read_first = db.read_clock
    try:
        assert abs(fresh.now_ns() - time.time_ns()) < _HOUR_NS // 10
        assert not fresh.is_known
    finally:
        db.connect_to(os.environ["DATABASE_URL"])
