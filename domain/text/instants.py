"""Instants in the text of an email, whose reader's time zone is unknown: `28 Nov 2026, 20:40 UTC`."""

from datetime import UTC, datetime

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def format_instant(at: datetime) -> str:
    """Return an instant in UTC, in words."""
    utc = at.astimezone(UTC)
    return f"{utc.day} {_MONTHS[utc.month - 1]} {utc.year}, {utc:%H:%M} UTC"
