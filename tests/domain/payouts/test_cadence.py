"""On which days automatic payouts come round. Source: core spec, "Organization profile"."""

from datetime import date, timedelta

import pytest

from domain.payouts.cadence import Cadence, latest_day

SINCE = date(2026, 1, 31)


@pytest.mark.parametrize(
    ("cadence", "today", "came"),
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
def test_a_cadence_comes_round_after_whole_periods(cadence, today, came):
    assert latest_day(Cadence(cadence), since=SINCE, today=today) == came


@pytest.mark.parametrize("cadence", Cadence)
def test_a_day_before_the_choice_brings_nothing(cadence):
    assert latest_day(cadence, since=SINCE, today=date(2025, 1, 1)) is None


@pytest.mark.parametrize(("cadence", "times"), [("Weekly", 156), ("Biweekly", 78), ("Monthly", 36)])
def test_three_years_bring_every_period_once(cadence, times):
    days = [SINCE + timedelta(days=number) for number in range(3 * 365 + 2)]

    assert len({latest_day(Cadence(cadence), since=SINCE, today=day) for day in days} - {None}) == times
