"""The one place that knows what time it is; everything below is given it.

It is the database's time, once `follow` was called. A machine whose own clock differs by more than half a minute is
reported in the log when that begins and when it ends.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Protocol

#: How many seconds a machine's clock may be away from the database's before it is reported.
MAX_DIFFERENCE_S = 30


class FollowedClock(Protocol):
    """The database's clock as this process knows it."""

    hooks: list[Callable[[float], None]]

    def now(self) -> datetime:
        """Return the time, aware, UTC."""


class _Clock:
    """Where the time comes from, and whether this machine's clock was found to differ."""

    def __init__(self) -> None:
        self.read: Callable[[], datetime] = lambda: datetime.now(UTC)
        self.differs = False

    def report(self, ahead_s: float) -> None:
        """Write a line of the log where the machine's clock begins or ceases to differ."""
        differs = abs(ahead_s) > MAX_DIFFERENCE_S
        if differs == self.differs:
            return
        self.differs = differs
        if differs:
            _warn("clock.differs", ahead_s=round(ahead_s, 3), next="synchronize this machine's clock (NTP)")
        else:
            _warn("clock.agrees", ahead_s=round(ahead_s, 3))


def _warn(event: str, **fields: object) -> None:
    import structlog  # not at the top: `adapters.logs` loads it first, and less of it

    structlog.get_logger(__name__).warning(event, **fields)


_clock = _Clock()


def now() -> datetime:
    """Return the current time, aware, UTC."""
    return _clock.read()


def follow(database_clock: FollowedClock) -> None:
    """Take the time from the database's clock from now on, and report when this machine's differs."""
    _clock.read = database_clock.now
    if _clock.report not in database_clock.hooks:
        database_clock.hooks.append(_clock.report)
