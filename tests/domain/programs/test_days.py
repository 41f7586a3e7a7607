"""The range of days that a range is compared with, and the days of both that are complete."""

from datetime import date

import pytest

from domain.programs.days import DayRange, PeriodComparison, pair_periods, range_before


def _compared_days(first, last, comparison):
    before = range_before(DayRange(date.fromisoformat(first), date.fromisoformat(last)), PeriodComparison(comparison))
    return before and (before.first.isoformat(), before.last.isoformat())


@pytest.mark.parametrize(
    ("first", "last", "comparison", "expected"),
    [
        ("2026-11-28", "2026-11-28", "period", ("2026-11-27", "2026-11-27")),
        ("2026-10-30", "2026-11-28", "period", ("2026-09-30", "2026-10-29")),
        ("2024-03-01", "2024-03-31", "period", ("2024-01-30", "2024-02-29")),
        ("2026-10-01", "2026-10-31", "month", ("2026-09-01", "2026-09-30")),
        ("2026-02-01", "2026-02-28", "month", ("2026-01-01", "2026-01-31")),
        ("2026-11-01", "2026-11-28", "month", ("2026-10-01", "2026-10-28")),
        ("2026-03-01", "2026-03-30", "month", ("2026-02-01", "2026-02-28")),
        ("2026-01-01", "2026-01-31", "month", ("2025-12-01", "2025-12-31")),
        ("2026-01-01", "2026-11-28", "year", ("2025-01-01", "2025-11-28")),
        ("2024-01-01", "2024-02-29", "year", ("2023-01-01", "2023-02-28")),
        ("2025-02-01", "2025-02-28", "year", ("2024-02-01", "2024-02-29")),
        ("0001-01-01", "0001-01-02", "period", None),
        ("0001-01-01", "0001-01-31", "month", None),
        ("0001-05-01", "0001-05-31", "year", None),
        ("9999-12-01", "9999-12-30", "year", ("9998-12-01", "9998-12-30")),
    ],
)
def test_range_is_compared_with_the_days_before(first, last, comparison, expected):
    assert _compared_days(first, last, comparison) == expected


def _compare(first, last, comparison, today):
    days = DayRange(date.fromisoformat(first), date.fromisoformat(last))
    periods = pair_periods(days, PeriodComparison(comparison), today=date.fromisoformat(today))
    return [f"{compared.first} {compared.last}" for compared in periods.compared or ()]


@pytest.mark.parametrize(
    ("first", "last", "comparison", "today", "expected"),
    [
        ("2026-10-30", "2026-11-28", "period", "2026-11-28", ["2026-10-30 2026-11-27", "2026-09-30 2026-10-28"]),
        ("2026-10-30", "2026-11-28", "period", "2026-11-29", ["2026-10-30 2026-11-28", "2026-09-30 2026-10-29"]),
        ("2026-11-27", "2026-11-30", "period", "2026-11-28", ["2026-11-27 2026-11-27", "2026-11-23 2026-11-23"]),
        ("2026-11-28", "2026-11-28", "period", "2026-11-28", []),
        ("2026-11-01", "2026-11-30", "month", "2026-11-30", ["2026-11-01 2026-11-29", "2026-10-01 2026-10-29"]),
        ("2026-12-01", "2026-12-01", "month", "2026-12-01", []),
        ("2026-03-01", "2026-03-31", "month", "2026-03-31", ["2026-03-01 2026-03-30", "2026-02-01 2026-02-28"]),
        ("2026-02-10", "2026-03-01", "month", "2026-03-01", ["2026-02-10 2026-02-28", "2026-01-10 2026-01-28"]),
        ("2025-01-01", "2025-03-01", "year", "2025-03-01", ["2025-01-01 2025-02-28", "2024-01-01 2024-02-28"]),
        ("2027-01-01", "2027-01-31", "month", "2026-12-01", []),
    ],
)
def test_days_that_are_not_complete_are_not_compared(first, last, comparison, today, expected):
    assert _compare(first, last, comparison, today) == expected
