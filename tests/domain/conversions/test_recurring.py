"""A customer's payments earn within the recurring window and after the delay."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from domain.conversions import recurring
from domain.conversions.recurring import WindowFacts

ANCHOR = datetime(2026, 1, 31, 10, 30, tzinfo=UTC)


@pytest.mark.parametrize(("ordinal", "type_"), [(1, "OneTime"), (2, "Recurring"), (37, "Recurring")])
def test_type_is_recurring_from_the_second_payment(ordinal: int, type_: str) -> None:
    assert recurring.conversion_type(ordinal) == type_


def test_type_refuses_an_ordinal_below_one() -> None:
    with pytest.raises(ValueError, match="count from 1"):
        recurring.conversion_type(0)


@pytest.mark.parametrize(
    ("first_paid_at", "months", "end"),
    [
        (ANCHOR, 0, datetime(2026, 1, 31, 10, 30, tzinfo=UTC)),
        (ANCHOR, 1, datetime(2026, 2, 28, 10, 30, tzinfo=UTC)),
        (ANCHOR, 2, datetime(2026, 3, 31, 10, 30, tzinfo=UTC)),
        (ANCHOR, 3, datetime(2026, 4, 30, 10, 30, tzinfo=UTC)),
        (ANCHOR, 11, datetime(2026, 12, 31, 10, 30, tzinfo=UTC)),
        (ANCHOR, 12, datetime(2027, 1, 31, 10, 30, tzinfo=UTC)),
        (ANCHOR, 25, datetime(2028, 2, 29, 10, 30, tzinfo=UTC)),
        (datetime(2024, 2, 29, 8, tzinfo=UTC), 12, datetime(2025, 2, 28, 8, tzinfo=UTC)),
        (datetime(2024, 2, 29, 8, tzinfo=UTC), 48, datetime(2028, 2, 29, 8, tzinfo=UTC)),
        (datetime(2026, 11, 15, tzinfo=UTC), 1, datetime(2026, 12, 15, tzinfo=UTC)),
        (datetime(2026, 12, 15, tzinfo=UTC), 1, datetime(2027, 1, 15, tzinfo=UTC)),
    ],
)
def test_window_ends_the_given_calendar_months_after_the_first_payment(
    first_paid_at: datetime, months: int, end: datetime
) -> None:
    assert recurring.window_end(first_paid_at=first_paid_at, months=months) == end


def test_window_is_counted_in_utc() -> None:
    tokyo = timezone(timedelta(hours=9))
    first_of_march_in_tokyo = datetime(2026, 3, 1, 5, tzinfo=tokyo)

    end = recurring.window_end(first_paid_at=first_of_march_in_tokyo, months=1)

    assert end == datetime(2026, 3, 28, 20, tzinfo=UTC)
    assert end.tzinfo is UTC


def test_window_beyond_the_last_date_ends_on_the_last_date() -> None:
    end = recurring.window_end(first_paid_at=ANCHOR, months=1_000_000)

    assert end == datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC)


def test_window_refuses_a_time_without_a_zone() -> None:
    with pytest.raises(ValueError, match="time zone"):
        recurring.window_end(first_paid_at=datetime(2026, 1, 1), months=1)


def test_window_refuses_negative_months() -> None:
    with pytest.raises(ValueError, match="negative"):
        recurring.window_end(first_paid_at=ANCHOR, months=-1)


def window_facts(*, ordinal: int = 1, months: int | None = None, delay: int = 0) -> WindowFacts:
    return WindowFacts(first_paid_at=ANCHOR, ordinal=ordinal, recurring_months=months, recurring_delay_invoices=delay)


def test_lifetime_terms_earn_on_every_renewal() -> None:
    assert recurring.earns(window_facts(ordinal=200), paid_at=datetime(2042, 9, 30, tzinfo=UTC))


def test_zero_months_earn_on_the_first_payment() -> None:
    assert recurring.earns(window_facts(months=0), paid_at=ANCHOR)


def test_zero_months_do_not_earn_on_a_renewal() -> None:
    assert not recurring.earns(window_facts(ordinal=2, months=0), paid_at=ANCHOR)


@pytest.mark.parametrize(
    ("paid_at", "is_inside"),
    [
        (datetime(2026, 1, 31, 10, 29, 59, tzinfo=UTC), False),
        (datetime(2026, 1, 31, 10, 30, tzinfo=UTC), True),
        (datetime(2026, 4, 30, 10, 29, 59, 999999, tzinfo=UTC), True),
        (datetime(2026, 4, 30, 10, 30, tzinfo=UTC), False),
        (datetime(2027, 1, 1, tzinfo=UTC), False),
    ],
)
def test_window_includes_its_start_and_excludes_its_end(paid_at: datetime, is_inside: bool) -> None:
    assert recurring.earns(window_facts(ordinal=3, months=3), paid_at=paid_at) is is_inside


@pytest.mark.parametrize(("ordinal", "is_earning"), [(1, False), (2, False), (3, True), (4, True)])
def test_payments_within_the_delay_earn_nothing(ordinal: int, is_earning: bool) -> None:
    paid_at = datetime(2026, 2, 10, tzinfo=UTC)

    assert recurring.earns(window_facts(ordinal=ordinal, delay=2), paid_at=paid_at) is is_earning


def test_delay_does_not_extend_the_window() -> None:
    paid_at = datetime(2026, 2, 28, 10, 30, tzinfo=UTC)

    assert not recurring.earns(window_facts(ordinal=2, months=1, delay=1), paid_at=paid_at)


def test_delayed_first_payment_of_a_one_time_program_earns_nothing() -> None:
    assert not recurring.earns(window_facts(months=0, delay=1), paid_at=ANCHOR)


@pytest.mark.parametrize("months", [None, 0, 12])
def test_single_sale_earns_with_any_window(months: int | None) -> None:
    assert recurring.earns(window_facts(months=months), paid_at=ANCHOR)
