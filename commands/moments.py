"""Times as an operator types them: `2026-05-04T12:00Z`, `2026-05-04`, or how long ago, `90m`, `24h`, `7d`."""

import re
from datetime import UTC, datetime, timedelta

import click

from adapters import clock

_AGO = re.compile(r"([0-9]{1,6})([smhdw])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def moment(typed: str) -> datetime:
    """Return the aware time that was typed, without an offset in UTC: the `type` of an option.

    Raises click.BadParameter.
    """
    try:
        if ago := _AGO.fullmatch(typed.strip()):
            return clock.now() - timedelta(**{_UNITS[ago[2]]: int(ago[1])})
        found = datetime.fromisoformat(typed.strip())
        return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        message = f"{typed!r} is no time: write 2026-05-04T12:00Z, 2026-05-04, or an age such as 90m, 24h, 7d."
        raise click.BadParameter(message) from None
