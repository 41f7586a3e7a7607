"""Days and ranges of days in words, such as `28 Nov 2026` and `30 Oct – 28 Nov 2026`."""

from datetime import date, timedelta

from domain.programs.days import DayRange

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def describe_day(day: date) -> str:
    """Return a day with its year."""
    return f"{short_day(day)} {day.year}"


def short_day(day: date) -> str:
    """Return a day without its year."""
    return f"{day.day} {_MONTHS[day.month - 1]}"


def describe_range(days: DayRange) -> str:
    """Return a range of days, a whole month by its name."""
    first, last = days
    if first == last:
        return describe_day(first)
    if first.year != last.year:
        return f"{describe_day(first)} – {describe_day(last)}"
    if first.month != last.month:
        return f"{short_day(first)} – {describe_day(last)}"
    if first.day == 1 and (last + timedelta(days=1)).month != last.month:
        return f"{_MONTHS[first.month - 1]} {first.year}"
    return f"{first.day}–{describe_day(last)}"


def short_month(day: date) -> str:
    """Return the month of a day."""
    return _MONTHS[day.month - 1]
