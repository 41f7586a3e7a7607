"""The days of automatic payouts: whole periods after the day on which the cadence was chosen.

Source: core spec, "Organization profile" (automaticPayoutCadence). Days are local to the organization.
"""

import calendar
from datetime import date, datetime, timedelta
from enum import StrEnum
from zoneinfo import ZoneInfo


class Cadence(StrEnum):
    """How often payouts are proposed automatically."""

    Manual = "Manual"
    Weekly = "Weekly"
    Biweekly = "Biweekly"
    Monthly = "Monthly"


def local_day(timezone: str, now: datetime) -> date:
    """Return the current day in a time zone."""
    return now.astimezone(ZoneInfo(timezone)).date()


def start_day(cadence: object, *, timezone: str, now: datetime) -> date | None:
    """Return the day from which a cadence chosen now counts its periods; None for Manual."""
    return None if cadence == Cadence.Manual else local_day(timezone, now)


_DAYS = {Cadence.Weekly: 7, Cadence.Biweekly: 14}


def latest_day(cadence: Cadence, *, since: date, today: date) -> date | None:
    """Return the latest payout day of the cadence up to `today`; None before the first, and for Manual.

    All are counted from `since`, never from one another, so that neither a pause nor a short month shifts later ones.
    """
    if cadence is Cadence.Monthly:
        return _latest_month(since, today)
    days = _DAYS.get(cadence)
    periods = (today - since).days // days if days else 0
    return since + timedelta(days=days * periods) if days and periods > 0 else None


def next_day(cadence: Cadence, *, since: date, today: date, done: date | None) -> date | None:
    """Return the next payout day, which is today if it is one and no run was proposed since; None for Manual.

    `done` is the day of the latest proposal.
    """
    if cadence is Cadence.Manual:
        return None
    latest = latest_day(cadence, since=since, today=today)
    if latest == today and (done is None or done < today):
        return today
    return _day_after(cadence, since=since, today=today)


def _day_after(cadence: Cadence, *, since: date, today: date) -> date:
    """Return the first payout day after today."""
    if cadence is Cadence.Monthly:
        months = max(0, (today.year - since.year) * 12 + today.month - since.month)
        return next(
            day for day in (_months_after(since, months + more) for more in range(3)) if day > max(today, since)
        )
    days = _DAYS[cadence]
    return since + timedelta(days=days * max(1, (today - since).days // days + 1))


def _latest_month(since: date, today: date) -> date | None:
    months = (today.year - since.year) * 12 + today.month - since.month
    if months > 0 and _months_after(since, months) > today:
        months -= 1
    return _months_after(since, months) if months > 0 else None


def _months_after(since: date, months: int) -> date:
    """Return the same day of a later month, or that month's last one."""
    years, month = divmod(since.month - 1 + months, 12)
    year = since.year + years
    return date(year, month + 1, min(since.day, calendar.monthrange(year, month + 1)[1]))
