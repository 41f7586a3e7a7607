"""Days of automatic payouts. Source: core spec, "Organization profile"."""

from datetime import date, timedelta

import pytest

from domain.payouts.cadence import Cadence, latest_day, next_day

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


@pytest.mark.parametrize(
    ("cadence", "today", "expected"),
    [
        ("Manual", SINCE, None),
        ("Weekly", SINCE, date(2026, 2, 7)),
        ("Weekly", date(2026, 2, 6), date(2026, 2, 7)),
        ("Weekly", date(2026, 2, 7), date(2026, 2, 7)),
        ("Weekly", date(2026, 2, 8), date(2026, 2, 14)),
        ("Biweekly", date(2026, 2, 13), date(2026, 2, 14)),
        ("Monthly", SINCE, date(2026, 2, 28)),
        ("Monthly", date(2026, 2, 28), date(2026, 2, 28)),
        ("Monthly", date(2026, 3, 1), date(2026, 3, 31)),
        ("Monthly", date(2026, 12, 31), date(2026, 12, 31)),
        ("Monthly", date(2027, 1, 1), date(2027, 1, 31)),
        ("Monthly", date(2020, 1, 1), date(2026, 2, 28)),
    ],
)
def test_next_payout_day_is_the_first_from_today_on(cadence, today, expected):
    assert next_day(Cadence(cadence), since=SINCE, today=today, done=None) == expected


@pytest.mark.parametrize("cadence", [cadence for cadence in Cadence if cadence is not Cadence.Manual])
def test_next_payout_day_is_later_once_todays_run_was_proposed(cadence):
    today = next_day(cadence, since=SINCE, today=SINCE, done=None)

    following = next_day(cadence, since=SINCE, today=today, done=today)

    assert following > today
    assert latest_day(cadence, since=SINCE, today=following) == following
