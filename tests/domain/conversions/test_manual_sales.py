"""How old a manually recorded sale may be. Source: core spec, "Conversions" (manual conversion)."""

from datetime import UTC, datetime

import pytest

from domain.conversions import manual_sales


@pytest.mark.parametrize(
    ("now", "occurred_at", "is_possible"),
    [
        ("2026-05-01T12:00", "2026-05-01T12:00", True),
        ("2026-05-01T12:00", "2026-05-01T12:01", False),
        ("2026-05-01T12:00", "2021-05-01T12:00", True),
        ("2026-05-01T12:00", "2021-05-01T11:59", False),
        ("2024-02-29T12:00", "2019-02-28T12:00", True),
        ("2024-02-29T12:00", "2019-02-28T11:59", False),
    ],
)
def test_manual_sale_may_be_up_to_five_years_old(now, occurred_at, is_possible):
    sale_time, current_time = (datetime.fromisoformat(text).replace(tzinfo=UTC) for text in (occurred_at, now))

    assert manual_sales.is_possible(sale_time, now=current_time) is is_possible
