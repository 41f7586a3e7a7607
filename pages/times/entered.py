"""Days and times that people type into forms and filters, read in the zone of the page, as instants for the API.

Text that is no day or time goes to the API as it was typed, so that the API says what is wrong with it.
"""

import re
from collections.abc import Callable
from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

from domain.organization import time_zones
from pages.times import zone

_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(:[0-9]{2})?")
_FIELD = "%Y-%m-%dT%H:%M"


def day_start(text: str | None) -> str | None:
    """Return the first instant of a day that was typed."""
    return _of_day(text, time_zones.start_of_day)


def day_end(text: str | None) -> str | None:
    """Return the last second of a day that was typed."""
    return _of_day(text, time_zones.end_of_day)


def instant(text: str | None) -> str | None:
    """Return the instant of a local time that was typed; of a time that comes twice, the first."""
    if text is None or not _TIME.fullmatch(text):
        return text
    try:
        return _written(datetime.fromisoformat(text).replace(tzinfo=zone.current()))
    except (ValueError, OverflowError):
        return text


def local_time(at: str) -> str:
    """Return an instant of the API as a form field of type datetime-local has it."""
    return datetime.fromisoformat(at).astimezone(zone.current()).strftime(_FIELD)


def _of_day(text: str | None, edge: Callable[[date, ZoneInfo], datetime]) -> str | None:
    if text is None or not _DAY.fullmatch(text):
        return text
    try:
        return _written(edge(date.fromisoformat(text), zone.current()))
    except (ValueError, OverflowError):
        return text


def _written(at: datetime) -> str:
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")
