"""A machine whose clock differs from the database's is reported when that begins and when it ends, and in a metric."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from prometheus_client import REGISTRY

from adapters import clock
from adapters.clock import gauge


class _Played:
    """A database's clock whose time does not move."""

    def __init__(self) -> None:
        self.hooks: list[Callable[[float], None]] = []

    def now(self) -> datetime:
        return datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)

    def read(self, ahead_s: float) -> None:
        for hook in self.hooks:
            hook(ahead_s)


@pytest.fixture
def followed(monkeypatch: pytest.MonkeyPatch) -> _Played:
    """Follow a clock that is played here."""
    monkeypatch.setattr(clock, "_clock", clock._Clock())
    followed = _Played()
    clock.use_database_clock(followed)
    return followed


@pytest.fixture
def reports(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, float]]:
    """Collect the lines of the log."""
    reports: list[tuple[str, float]] = []
    monkeypatch.setattr(clock, "_warn", lambda event, **fields: reports.append((event, fields["ahead_s"])))
    return reports


def test_a_followed_clock_says_the_time(followed: _Played) -> None:
    assert clock.now() == followed.now()


def test_a_clock_that_begins_and_ceases_to_differ_is_reported_once_each(
    followed: _Played, reports: list[tuple[str, float]]
) -> None:
    for ahead_s in (0.2, -29.9, 30.1, 3600, 3600.5, -3600, 1, 0.5, -31):
        followed.read(ahead_s)

    assert reports == [("clock.differs", 30.1), ("clock.agrees", 1), ("clock.differs", -31)]


def test_following_twice_reports_once(followed: _Played, reports: list[tuple[str, float]]) -> None:
    clock.use_database_clock(followed)

    followed.read(3600)

    assert len(reports) == 1


def test_the_difference_is_published(followed: _Played) -> None:
    gauge.publish_difference(followed)

    followed.read(-90.5)

    assert REGISTRY.get_sample_value("finderfee_clock_ahead_seconds") == -90.5
