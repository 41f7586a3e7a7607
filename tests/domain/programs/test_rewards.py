"""The reward of a click or lead, and the number of fees a budget covers. Source: core spec, "Program"."""

import dataclasses
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.conversions import commission
from domain.money import fx
from domain.programs import rewards
from domain.programs.fees import Fee
from domain.programs.rewards import BudgetReserve, Level, RewardTerms

_NO_RATE = Level(None, None, None)
_CPC = RewardTerms(
    model="Cpc", program=Level("Fixed", Decimal("0.25"), "USD"), custom=_NO_RATE, group=_NO_RATE, flat=Fee(500, "USD")
)
_CPL = dataclasses.replace(_CPC, model="Cpl", program=Level("Fixed", Decimal(5), "KWD"))
_CPS = dataclasses.replace(_CPC, model="Cps", program=Level("Percentage", Decimal(20), None))


def _tier(min_revenue_cents: int, value: int, currency: str = "USD", type: str = "Fixed") -> commission.RevenueTier:
    return commission.RevenueTier(min_revenue_cents, currency, commission.CommissionType(type), Decimal(value))


def _compute_reward(terms: RewardTerms, kind: rewards.Kind) -> tuple[int, str, str] | None:
    reward = rewards.reward(terms, kind)
    return reward and (reward.fee.cents, reward.fee.currency, reward.source)


def test_primary_event_pays_the_program_fee_in_its_currency():
    assert _compute_reward(_CPC, "click") == (25, "USD", "program")
    assert _compute_reward(_CPL, "lead") == (5000, "KWD", "program")


@pytest.mark.parametrize(("terms", "kind"), [(_CPC, "lead"), (_CPL, "click"), (_CPS, "lead"), (_CPS, "click")])
def test_secondary_event_pays_the_flat_amount(terms, kind):
    assert _compute_reward(terms, kind) == (500, "USD", "program")
    assert rewards.reward(terms, kind).value == Decimal(5)


@pytest.mark.parametrize("kind", ["click", "lead"])
def test_program_without_a_fee_or_reward_pays_nothing(kind):
    assert rewards.reward(dataclasses.replace(_CPS, flat=None), kind) is None


def test_flat_amount_in_a_currency_without_decimals_is_whole_units():
    assert rewards.reward(dataclasses.replace(_CPS, flat=Fee(500, "JPY")), "lead").value == 500


def test_partner_rates_win_over_the_program_rate_in_their_own_currencies():
    tiers = dataclasses.replace(_CPC, tiers=(_tier(0, 2, "EUR"),), home_currency="EUR")
    group = dataclasses.replace(tiers, group=Level("Fixed", Decimal(3), "GBP"))
    custom = dataclasses.replace(group, custom=Level("Fixed", Decimal(4), "CHF"))

    assert _compute_reward(tiers, "click") == (200, "EUR", "tier")
    assert _compute_reward(group, "click") == (300, "GBP", "group")
    assert _compute_reward(custom, "click") == (400, "CHF", "affiliate")


def test_highest_reached_tier_pays():
    terms = dataclasses.replace(
        _CPC, tiers=(_tier(0, 1), _tier(100, 2), _tier(200, 3)), revenue_cents=Fraction(199), home_currency="USD"
    )

    assert _compute_reward(terms, "click") == (200, "USD", "tier")


def test_custom_fee_of_zero_applies():
    assert _compute_reward(dataclasses.replace(_CPC, custom=Level("Fixed", Decimal(0), "USD")), "click") == (
        0,
        "USD",
        "affiliate",
    )


def test_percentage_rates_do_not_apply_to_a_click():
    terms = dataclasses.replace(
        _CPC,
        custom=Level("Percentage", Decimal(10), None),
        group=Level("Percentage", Decimal(10), None),
        tiers=(_tier(0, 10, type="Percentage"),),
        home_currency="USD",
    )

    assert _compute_reward(terms, "click") == (25, "USD", "program")


def test_custom_rate_does_not_change_the_lead_bounty():
    assert _compute_reward(dataclasses.replace(_CPC, custom=Level("Fixed", Decimal(4), "USD")), "lead") == (
        500,
        "USD",
        "program",
    )


def test_unlimited_budget_covers_every_fee():
    assert BudgetReserve(budget=None, spent={}, per_usd={}).reserve(Fee(10**12, "USD"), 10**6) == 10**6


def test_remaining_budget_covers_whole_fees_only():
    assert BudgetReserve(budget=Fee(100, "USD"), spent={"USD": 20}, per_usd={}).reserve(Fee(30, "USD"), 10) == 2


def test_reserved_fees_reduce_the_budget():
    reserve = BudgetReserve(budget=Fee(100, "USD"), spent={}, per_usd={})

    assert [
        reserve.reserve(Fee(30, "USD"), 2),
        reserve.reserve(Fee(20, "USD"), 9),
        reserve.reserve(Fee(1, "USD"), 1),
    ] == [2, 2, 0]


def test_overspent_budget_covers_only_free_rewards():
    reserve = BudgetReserve(budget=Fee(100, "USD"), spent={"USD": 150}, per_usd={})

    assert (reserve.reserve(Fee(1, "USD"), 3), reserve.reserve(Fee(0, "USD"), 3)) == (0, 3)


def test_budget_of_zero_covers_nothing():
    assert BudgetReserve(budget=Fee(0, "USD"), spent={}, per_usd={}).reserve(Fee(1, "USD"), 3) == 0


@pytest.mark.parametrize(
    ("fee", "spent"), [(Fee(1, "EUR"), {}), (Fee(1, "USD"), {"EUR": 1}), (Fee(1, "USD"), {"USD": 1, "EUR": 1})]
)
def test_missing_rate_reserves_nothing(fee, spent):
    assert BudgetReserve(budget=Fee(100, "USD"), spent=spent, per_usd={}).reserve(fee, 5) == 0


def test_zero_spend_needs_no_rate():
    assert BudgetReserve(budget=Fee(100, "USD"), spent={"EUR": 0}, per_usd={}).reserve(Fee(50, "USD"), 5) == 2


def test_amounts_of_other_currencies_are_compared_by_their_rates():
    reserve = BudgetReserve(
        budget=Fee(1000, "USD"), spent={"JPY": 750}, per_usd={"JPY": Decimal(150), "EUR": Decimal("0.8")}
    )

    assert reserve.reserve(Fee(100, "EUR"), 9) == 4  # 500 of 1000 cents are spent, a fee is 125 cents


_CURRENCIES = st.sampled_from(["USD", "EUR", "JPY", "KWD"])
_PER_USD = {"EUR": Decimal("0.917"), "JPY": Decimal("149.33"), "KWD": Decimal("0.3071")}
_FEES = st.builds(Fee, st.integers(0, 10**6), _CURRENCIES)


def _usd(fees: list[Fee]) -> Fraction:
    return sum(
        (
            fx.convert_exactly(amount_cents=fee.cents, from_currency=fee.currency, to_currency="USD", per_usd=_PER_USD)
            for fee in fees
        ),
        Fraction(0),
    )


@given(
    budget=st.builds(Fee, st.integers(0, 10**9), _CURRENCIES),
    spent=st.dictionaries(_CURRENCIES, st.integers(0, 10**8)),
    requests=st.lists(st.tuples(_FEES, st.integers(0, 10**4)), max_size=5),
)
def test_budget_is_used_up_and_never_exceeded(budget, spent, requests):
    reserve = BudgetReserve(budget=budget, spent=spent, per_usd=_PER_USD)
    limit, used = _usd([budget]), _usd([Fee(cents, currency) for currency, cents in spent.items()])

    for fee, requested_count in requests:
        reserved_count, price = reserve.reserve(fee, requested_count), _usd([fee])
        used += reserved_count * price
        assert 0 <= reserved_count <= requested_count
        assert reserved_count * price == 0 or used <= limit
        assert reserved_count == requested_count or used + price > limit
