"""How far back a sale may lie that is recorded by hand. Source: core spec, "Conversions" (manual conversion)."""

from datetime import UTC, datetime

import pytest

from domain.conversions import manual_sales


@pytest.mark.parametrize(
    ("now", "occurred", "is_possible"),
    [
        ("2026-05-01T12:00", "2026-05-01T12:00", True),
        ("2026-05-01T12:00", "2026-05-01T12:01", False),
        ("2026-05-01T12:00", "2021-05-01T12:00", True),
        ("2026-05-01T12:00", "2021-05-01T11:59", False),
        ("2024-02-29T12:00", "2019-02-28T12:00", True),
        ("2024-02-29T12:00", "2019-02-28T11:59", False),
    ],
)
def test_five_years_back_are_counted_to_the_day(now, occurred, is_possible):
    moments = [datetime.fromisoformat(moment).replace(tzinfo=UTC) for moment in (occurred, now)]

    assert manual_sales.is_possible(moments[0], now=moments[1]) is is_possible
