"""The current time; every other module receives it from its caller.

After `follow` it is the database's time. The log reports when this machine's own clock begins and ceases to differ by
more than half a minute.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Protocol

#: Seconds by which this machine's clock may differ from the database's before it is reported.
MAX_DIFFERENCE_S = 30


class ClockSource(Protocol):
    """This process's estimate of the database's clock."""

    hooks: list[Callable[[float], None]]

    def now(self) -> datetime:
        """Return the time, aware, UTC."""


class _Clock:
    """The source of the time, and whether this machine's clock differs from the database's."""

    def __init__(self) -> None:
        self.read: Callable[[], datetime] = lambda: datetime.now(UTC)
        self.differs = False

    def report(self, ahead_s: float) -> None:
        """Log when the machine's clock begins or ceases to differ."""
        differs = abs(ahead_s) > MAX_DIFFERENCE_S
        if differs == self.differs:
            return
        self.differs = differs
        if differs:
            _warn("clock.differs", ahead_s=round(ahead_s, 3), next="synchronize this machine's clock (NTP)")
        else:
            _warn("clock.agrees", ahead_s=round(ahead_s, 3))


def _warn(event: str, **fields: object) -> None:
    import structlog  # not at the top: `adapters.logs` must import it first, without optional packages

    structlog.get_logger(__name__).warning(event, **fields)


_clock = _Clock()


def now() -> datetime:
    """Return the current time, aware, UTC."""
    return _clock.read()


def use_database_clock(database_clock: ClockSource) -> None:
    """Use the database's clock from now on, and report when this machine's clock differs."""
    _clock.read = database_clock.now
    if _clock.report not in database_clock.hooks:
        database_clock.hooks.append(_clock.report)
