"""Amounts added to a conversion after its first payment earn on that payment's terms."""

from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.conversions import growth
from domain.conversions.growth import EarnedAmount
from domain.money import money

PERCENT = EarnedAmount(4_000, 800, "USD", "Percentage", Decimal(20))
FIXED = EarnedAmount(4_000, 1_000, "USD", "Fixed", Decimal(10))


def test_percentage_applies_to_the_whole_amount() -> None:
    assert growth.commission_at(PERCENT, amount_cents=10_000) == 2_000


def test_fixed_commission_is_earned_once() -> None:
    assert growth.commission_at(FIXED, amount_cents=10_000) == 1_000


@pytest.mark.parametrize("earned", [PERCENT, FIXED])
def test_conversion_without_commission_still_earns_nothing(earned: EarnedAmount) -> None:
    assert growth.commission_at(replace(earned, commission_cents=0), amount_cents=10_000) == 0


def test_first_part_with_a_commission_rounded_to_zero_earns_with_the_rest() -> None:
    assert growth.commission_at(replace(PERCENT, amount_cents=2, commission_cents=0), amount_cents=10_000) == 2_000


def test_manually_set_commission_keeps_its_difference() -> None:
    assert growth.commission_at(replace(PERCENT, commission_cents=900), amount_cents=10_000) == 2_100


def test_commission_without_a_rate_grows_in_proportion() -> None:
    imported = EarnedAmount(4_000, 500, "USD", None, None)
    assert growth.commission_at(imported, amount_cents=10_000) == 1_250
    assert growth.commission_at(replace(imported, amount_cents=0), amount_cents=10_000) == 500


@given(
    parts=st.lists(st.integers(min_value=1, max_value=1_000_000), min_size=1, max_size=6),
    percent=st.decimals(min_value=0, max_value=100, places=2),
)
def test_several_payments_earn_as_much_as_one_payment_of_their_sum(parts: list[int], percent: Decimal) -> None:
    first_commission_cents = money.percent_of(amount_cents=parts[0], percent=percent)
    earned = EarnedAmount(parts[0], first_commission_cents, "USD", "Percentage", percent)
    for part in parts[1:]:
        amount = earned.amount_cents + part
        earned = replace(
            earned, amount_cents=amount, commission_cents=growth.commission_at(earned, amount_cents=amount)
        )
    assert earned.commission_cents == money.percent_of(amount_cents=sum(parts), percent=percent)


@pytest.mark.parametrize(
    ("amount_cents", "paid_cents", "more_paid_cents", "more_net_cents", "expected"),
    [
        (4_000, 4_000, 6_000, 5_000, 6_000),  # all of the first counted
        (3_200, 4_000, 6_000, 4_800, 4_800),  # the first counted without tax, and so does this one
        (3_200, 4_000, 6_000, None, 4_800),  # the tax is unknown: the same share as of the first
        (0, 4_000, 6_000, None, 0),
        (0, 0, 6_000, None, 6_000),
    ],
)
def test_further_payment_counts_in_the_proportion_of_the_first(
    amount_cents, paid_cents, more_paid_cents, more_net_cents, expected
) -> None:
    counted_cents = growth.count_payment(
        amount_cents=amount_cents, paid_cents=paid_cents, more_paid_cents=more_paid_cents, more_net_cents=more_net_cents
    )
    assert counted_cents == expected


@pytest.mark.parametrize(
    ("status", "net_cents", "paid_cents", "expected"),
    [
        ("Paid", 2_000, 800, "Approved"),
        ("Paid", 700, 800, "Paid"),
        ("Pending", 2_000, 0, "Pending"),
        ("Denied", 2_000, 800, "Denied"),
        ("Refunded", 2_000, 800, "Refunded"),
    ],
)
def test_only_a_paid_conversion_changes_its_status(status, net_cents, paid_cents, expected) -> None:
    assert growth.status_of(status, net_cents=net_cents, paid_cents=paid_cents) == expected
