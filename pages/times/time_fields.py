"""Days and times that people type into forms and filters, read in the zone of the page, as instants for the API.

Text that is not a day or time goes to the API as typed, so that the API reports the error.
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


def parse_day_start(text: str | None) -> str | None:
    """Return the first instant of a typed day."""
    return _parse_day_edge(text, time_zones.start_of_day)


def parse_day_end(text: str | None) -> str | None:
    """Return the last second of a typed day."""
    return _parse_day_edge(text, time_zones.end_of_day)


def parse_local_time(text: str | None) -> str | None:
    """Return the instant of a typed local time; for a time that occurs twice, the first."""
    if text is None or not _TIME.fullmatch(text):
        return text
    try:
        return _to_api_time(datetime.fromisoformat(text).replace(tzinfo=zone.current_zone()))
    except (ValueError, OverflowError):
        return text


def format_local_time(at: str) -> str:
    """Return an instant of the API as the value of a datetime-local field."""
    return datetime.fromisoformat(at).astimezone(zone.current_zone()).strftime(_FIELD)


def _parse_day_edge(text: str | None, edge: Callable[[date, ZoneInfo], datetime]) -> str | None:
    if text is None or not _DAY.fullmatch(text):
        return text
    try:
        return _to_api_time(edge(date.fromisoformat(text), zone.current_zone()))
    except (ValueError, OverflowError):
        return text


def _to_api_time(at: datetime) -> str:
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")
