"""Days of automatic payouts. Source: core spec, "Organization profile"."""

from datetime import date, timedelta

import pytest

from domain.payouts.cadence import Cadence, latest_day

SINCE = date(2026, 1, 31)


@pytest.mark.parametrize(
    ("cadence", "today", "expected"),
    [
        ("Manual", date(2030, 1, 1), None),
        ("Weekly", SINCE, None),
        ("Weekly", date(2026, 2, 6), None),
        ("Weekly", date(2026, 2, 7), date(2026, 2, 7)),
        ("Weekly", date(2026, 2, 13), date(2026, 2, 7)),
        ("Weekly", date(2026, 2, 14), date(2026, 2, 14)),
        ("Biweekly", date(2026, 2, 13), None),
        ("Biweekly", date(2026, 2, 14), date(2026, 2, 14)),
        ("Monthly", date(2026, 2, 27), None),
        ("Monthly", date(2026, 2, 28), date(2026, 2, 28)),
        ("Monthly", date(2026, 3, 30), date(2026, 2, 28)),
        ("Monthly", date(2026, 3, 31), date(2026, 3, 31)),
        ("Monthly", date(2027, 1, 30), date(2026, 12, 31)),
        ("Monthly", date(2028, 2, 29), date(2028, 2, 29)),
    ],
)
def test_latest_payout_day_is_after_whole_periods(cadence, today, expected):
    assert latest_day(Cadence(cadence), since=SINCE, today=today) == expected


@pytest.mark.parametrize("cadence", Cadence)
def test_day_before_the_start_has_no_payout_day(cadence):
    assert latest_day(cadence, since=SINCE, today=date(2025, 1, 1)) is None


@pytest.mark.parametrize(("cadence", "count"), [("Weekly", 156), ("Biweekly", 78), ("Monthly", 36)])
def test_three_years_contain_each_payout_day_once(cadence, count):
    days = [SINCE + timedelta(days=number) for number in range(3 * 365 + 2)]

    assert len({latest_day(Cadence(cadence), since=SINCE, today=day) for day in days} - {None}) == count
