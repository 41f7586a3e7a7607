"""A changed program follows the rules of a new one (core spec, "Program fields accepted on create or update")."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.programs import ceilings, terms
from domain.programs import changes as program_changes
from domain.refusals import Refused

USD = ceilings.Home(currency="USD", per_usd=None)
PLAIN = {
    "name": "Spring",
    "default_commission_model": "Cps",
    "default_commission_type": "Percentage",
    "default_commission_value": Decimal(20),
    "fee_currency": None,
    "sale_commission_type": None,
    "sale_commission_value": None,
    "budget_cents": None,
    "budget_currency": None,
    "min_payout_cents": None,
    "min_payout_currency": None,
    "lead_bounty_cents": None,
    "lead_bounty_currency": None,
    "click_reward_cents": None,
    "click_reward_currency": None,
    "auto_approve": True,
    "network_visibility": "Private",
    "is_publicly_discoverable": True,
    "custom_domain": None,
    "custom_domain_verified": False,
}
_TYPES = st.sampled_from(["Percentage", "Fixed"])
_VALUES = st.sampled_from(
    [Decimal(number) for number in ("-1", "0", "1", "50", "100", "101", "1000", "1001", "1000001")]
)
_CENTS = st.sampled_from([None, -1, 0, 1, 9, 10, 100_000, 100_001, 10**10, 10**10 + 1, 10**18])
FIELDS = {
    "default_commission_model": st.sampled_from(["Cps", "Cpc", "Cpl"]),
    "default_commission_type": _TYPES,
    "default_commission_value": _VALUES,
    "sale_commission_type": st.none() | _TYPES,
    "sale_commission_value": st.none() | _VALUES,
    "budget_cents": _CENTS,
    "min_payout_cents": st.none() | st.integers(min_value=0, max_value=10**12),
    "lead_bounty_cents": _CENTS,
    "click_reward_cents": _CENTS,
    "auto_approve": st.booleans(),
    "network_visibility": st.sampled_from(["Private", "Networked", "InviteOnly"]),
    "is_publicly_discoverable": st.booleans(),
}
CHANGES = st.lists(st.fixed_dictionaries({}, optional=FIELDS), min_size=1, max_size=5)


@given(CHANGES)
def test_changed_program_is_valid_as_a_new_program(changes):
    program = dict(PLAIN)
    for change in changes:
        try:
            program |= program_changes.merge(program, change, home=USD)
        except Refused:
            continue

        assert {**program, **terms.complete(program, home=USD)} == program


@given(CHANGES)
def test_repeated_change_changes_nothing(changes):
    program = dict(PLAIN)
    for change in changes:
        try:
            program |= program_changes.merge(program, change, home=USD)
        except Refused:
            continue

        assert program_changes.merge(program, change, home=USD) == {}


@given(st.fixed_dictionaries({}, optional=FIELDS))
def test_merge_returns_only_changed_values(change):
    try:
        changed = program_changes.merge(PLAIN, change, home=USD)
    except Refused:
        return

    assert all(PLAIN[column] != value for column, value in changed.items())
    assert program_changes.merge(PLAIN, {}, home=USD) == {}


def test_stored_rate_impossible_in_the_new_model_is_refused_by_value():
    with pytest.raises(Refused, match=r"the rate 12\.5 Percentage, which is not possible in a Cpc program") as refusal:
        program_changes.check_stored_rates(
            "Cpc", [("Fixed", Decimal(1), USD), ("Percentage", Decimal("12.500000"), USD)]
        )

    assert (refusal.value.code, refusal.value.field) == ("invalid_commission_type", "defaultCommissionModel")


def test_stored_fee_is_checked_in_its_own_currency():
    dinar = ceilings.Home(currency="KWD", per_usd=Decimal("0.3"))

    program_changes.check_stored_rates("Cpc", [("Fixed", Decimal(300), dinar), ("Fixed", Decimal(1000), USD)])

    with pytest.raises(Refused, match=r"the rate 301 Fixed, which is not possible in a Cpc program"):
        program_changes.check_stored_rates("Cpc", [("Fixed", Decimal(301), dinar)])


EUR = ceilings.Home(currency="EUR", per_usd=Decimal("0.9"))
_AMOUNTS = {**terms.CURRENCY_OF, "default_commission_value": "fee_currency"}


@given(CHANGES, st.fixed_dictionaries({}, optional=FIELDS))
def test_changed_amount_gets_the_current_home_currency_and_others_keep_theirs(before, change):
    program = dict(PLAIN)
    try:
        for earlier in before:
            program |= program_changes.merge(program, earlier, home=USD)
        changed = program | program_changes.merge(program, change, home=EUR)
    except Refused:
        return

    for amount, currency in _AMOUNTS.items():
        is_new = amount in change or program[currency] is None
        assert changed[currency] in (None, "EUR" if is_new else "USD")
        if amount not in change and changed[amount] is not None:
            assert changed[amount] == program[amount]
    assert all((changed[amount] is None) == (changed[of] is None) for amount, of in terms.CURRENCY_OF.items())
    is_fee = changed["default_commission_model"] != "Cps" and changed["default_commission_type"] == "Fixed"
    assert (changed["fee_currency"] is not None) == is_fee


def test_resubmitted_amount_is_checked_in_the_current_home_currency():
    max_cents = 10**10
    program = PLAIN | {"budget_cents": max_cents, "budget_currency": "USD"}

    assert program_changes.merge(program, {"name": "Summer"}, home=EUR) == {"name": "Summer"}
    with pytest.raises(Refused) as refusal:
        program_changes.merge(program, {"budget_cents": max_cents}, home=EUR)
    assert refusal.value.code == "budget_out_of_range"
    smaller_budget = {"budget_cents": 9 * 10**9}
    assert program_changes.merge(program, smaller_budget, home=EUR) == smaller_budget | {"budget_currency": "EUR"}


def test_model_change_does_not_check_amounts_in_a_former_home_currency():
    weak_euro = ceilings.Home(currency="EUR", per_usd=Decimal("0.000001"))
    cpc_terms = {"default_commission_model": "Cpc", "default_commission_type": "Fixed"}
    program = (
        PLAIN | cpc_terms | {"default_commission_value": Decimal(900), "fee_currency": "USD", "budget_cents": 10**10}
    )
    program |= {"budget_currency": "USD", "lead_bounty_cents": 500, "lead_bounty_currency": "USD"}

    changed = program_changes.merge(program, {"default_commission_model": "Cpl"}, home=weak_euro)

    assert changed == {"default_commission_model": "Cpl", "lead_bounty_cents": None, "lead_bounty_currency": None}


def test_fixed_commission_has_a_currency_only_while_it_is_a_fee():
    program = PLAIN | {"default_commission_type": "Fixed", "default_commission_value": Decimal(5)}

    fee = program | program_changes.merge(program, {"default_commission_model": "Cpc"}, home=USD)
    sale_terms = program_changes.merge(fee, {"default_commission_model": "Cps"}, home=EUR)

    assert fee["fee_currency"] == "USD"
    assert sale_terms == {"default_commission_model": "Cps", "fee_currency": None}
