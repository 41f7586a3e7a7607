"""Parses times as an operator types them: `2026-05-04T12:00Z`, `2026-05-04`, or an age, `90m`, `24h`, `7d`."""

import re
from datetime import UTC, datetime, timedelta

import click

from adapters import clock

_AGO = re.compile(r"([0-9]{1,6})([smhdw])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def parse_timestamp(text: str) -> datetime:
    """Return an aware time from text, UTC where it has no offset: the `type` of an option.

    Raises click.BadParameter.
    """
    try:
        if ago := _AGO.fullmatch(text.strip()):
            return clock.now() - timedelta(**{_UNITS[ago[2]]: int(ago[1])})
        time = datetime.fromisoformat(text.strip())
        return time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        message = f"{text!r} is not a time: write 2026-05-04T12:00Z, 2026-05-04, or an age such as 90m, 24h, 7d."
        raise click.BadParameter(message) from None
