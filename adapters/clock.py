"""The one place that asks what time it is; everything below is told."""

from datetime import UTC, datetime


def now() -> datetime:
    """Return the current moment, aware, UTC."""
    return datetime.now(UTC)
