"""The current time for pages, which know nothing below this layer."""

from datetime import datetime

from adapters import clock


def now() -> datetime:
    """Return the database's time, aware, UTC."""
    return clock.now()
