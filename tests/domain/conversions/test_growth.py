"""What is added to a conversion after its first payment earns by that payment's terms."""

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


def test_percentage_is_of_the_whole_amount() -> None:
    assert growth.commission_at(PERCENT, amount_cents=10_000) == 2_000


def test_fixed_commission_is_earned_once() -> None:
    assert growth.commission_at(FIXED, amount_cents=10_000) == 1_000


@pytest.mark.parametrize("earned", [PERCENT, FIXED])
def test_payment_outside_the_window_goes_on_earning_nothing(earned: EarnedAmount) -> None:
    assert growth.commission_at(replace(earned, commission_cents=0), amount_cents=10_000) == 0


def test_first_part_whose_commission_rounded_to_nothing_earns_with_the_rest() -> None:
    assert growth.commission_at(replace(PERCENT, amount_cents=2, commission_cents=0), amount_cents=10_000) == 2_000


def test_commission_set_by_hand_keeps_its_difference() -> None:
    assert growth.commission_at(replace(PERCENT, commission_cents=900), amount_cents=10_000) == 2_100


def test_commission_without_a_rate_grows_in_proportion() -> None:
    imported = EarnedAmount(4_000, 500, "USD", None, None)
    assert growth.commission_at(imported, amount_cents=10_000) == 1_250
    assert growth.commission_at(replace(imported, amount_cents=0), amount_cents=10_000) == 500


@given(
    parts=st.lists(st.integers(min_value=1, max_value=1_000_000), min_size=1, max_size=6),
    percent=st.decimals(min_value=0, max_value=100, places=2),
)
def test_parts_in_any_number_earn_what_one_payment_of_their_sum_does(parts: list[int], percent: Decimal) -> None:
    first = money.percent_of(amount_cents=parts[0], percent=percent)
    earned = EarnedAmount(parts[0], first, "USD", "Percentage", percent)
    for part in parts[1:]:
        amount = earned.amount_cents + part
        earned = replace(
            earned, amount_cents=amount, commission_cents=growth.commission_at(earned, amount_cents=amount)
        )
    assert earned.commission_cents == money.percent_of(amount_cents=sum(parts), percent=percent)


@pytest.mark.parametrize(
    ("amount", "paid", "more", "net", "counts"),
    [
        (4_000, 4_000, 6_000, 5_000, 6_000),  # all of the first counted
        (3_200, 4_000, 6_000, 4_800, 4_800),  # the first without tax, and so is this
        (3_200, 4_000, 6_000, None, 4_800),  # its tax is not known: the same share
        (0, 4_000, 6_000, None, 0),
        (0, 0, 6_000, None, 6_000),
    ],
)
def test_further_payment_counts_as_the_first_did(amount, paid, more, net, counts) -> None:
    counted = growth.count_payment(amount_cents=amount, paid_cents=paid, more_paid_cents=more, more_net_cents=net)
    assert counted == counts


@pytest.mark.parametrize(
    ("status", "net", "paid", "after"),
    [
        ("Paid", 2_000, 800, "Approved"),
        ("Paid", 700, 800, "Paid"),
        ("Pending", 2_000, 0, "Pending"),
        ("Denied", 2_000, 800, "Denied"),
        ("Refunded", 2_000, 800, "Refunded"),
    ],
)
def test_only_a_paid_conversion_changes_its_status(status, net, paid, after) -> None:
    assert growth.status_of(status, net_cents=net, paid_cents=paid) == after
