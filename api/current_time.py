"""The current time for pages, which import no layer below the API."""

from datetime import datetime

from adapters import clock


def now() -> datetime:
    """Return the database's time, aware, UTC."""
    return clock.now()
