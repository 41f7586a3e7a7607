"""Clock skew against the database is logged when it starts and ends, and published as a metric."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from prometheus_client import REGISTRY

from adapters import clock
from adapters.clock import gauge


class _FakeDatabaseClock:
    """A database clock that a test sets."""

    def __init__(self) -> None:
        self.hooks: list[Callable[[float], None]] = []

    def now(self) -> datetime:
        return datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)

    def read(self, ahead_s: float) -> None:
        for hook in self.hooks:
            hook(ahead_s)


@pytest.fixture
def database_clock(monkeypatch: pytest.MonkeyPatch) -> _FakeDatabaseClock:
    """Use a fake database clock."""
    monkeypatch.setattr(clock, "_clock", clock._Clock())
    followed = _FakeDatabaseClock()
    clock.use_database_clock(followed)
    return followed


@pytest.fixture
def reports(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, float]]:
    """Collect the logged events with their skew."""
    reports: list[tuple[str, float]] = []
    monkeypatch.setattr(clock, "_warn", lambda event, **fields: reports.append((event, fields["ahead_s"])))
    return reports


def test_now_is_the_database_time(database_clock: _FakeDatabaseClock) -> None:
    assert clock.now() == database_clock.now()


def test_start_and_end_of_skew_are_logged_once_each(
    database_clock: _FakeDatabaseClock, reports: list[tuple[str, float]]
) -> None:
    for ahead_s in (0.2, -29.9, 30.1, 3600, 3600.5, -3600, 1, 0.5, -31):
        database_clock.read(ahead_s)

    assert reports == [("clock.differs", 30.1), ("clock.agrees", 1), ("clock.differs", -31)]


def test_clock_set_twice_is_logged_once(database_clock: _FakeDatabaseClock, reports: list[tuple[str, float]]) -> None:
    clock.use_database_clock(database_clock)

    database_clock.read(3600)

    assert len(reports) == 1


def test_skew_is_published_as_a_metric(database_clock: _FakeDatabaseClock) -> None:
    gauge.publish_difference(database_clock)

    database_clock.read(-90.5)

    assert REGISTRY.get_sample_value("finderfee_clock_ahead_seconds") == -90.5
