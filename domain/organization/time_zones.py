"""Time zones of the IANA database, and the instants at which their days start and end.

Source: core spec, "Organization profile" (timezone).
"""

import functools
from datetime import UTC, date, datetime, time, timedelta
from importlib import resources
from zoneinfo import ZoneInfo

#: The zone of an organization that has not chosen one.
DEFAULT = "UTC"
_SECOND = timedelta(seconds=1)


def is_known(name: str) -> bool:
    """Return whether the database has a zone of this name."""
    return name in _names()


def find_zone(name: str | None) -> ZoneInfo:
    """Return a zone by its name, UTC for an unknown name."""
    return ZoneInfo(name if name is not None and is_known(name) else DEFAULT)


def start_of_day(day: date, zone: ZoneInfo) -> datetime:
    """Return the instant at which a day starts, in UTC; where the clock skips midnight, the first one after it."""
    return datetime.combine(day, time.min, zone).astimezone(UTC)


def end_of_day(day: date, zone: ZoneInfo) -> datetime:
    """Return the last second of a day, in UTC. A day has 23 or 25 hours where the clock is changed."""
    return start_of_day(day + timedelta(days=1), zone) - _SECOND


def is_repeated(at: datetime) -> bool:
    """Return whether the local time of an instant occurs twice in its zone, as when summer time ends."""
    return at.replace(fold=0).utcoffset() != at.replace(fold=1).utcoffset()


@functools.cache
def _names() -> frozenset[str]:
    return frozenset(resources.files("tzdata").joinpath("zones").read_text("ascii").split())
