"""A changed program obeys the rules of a new one (core spec, "Program fields accepted on create or update")."""

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
def test_whatever_is_changed_the_program_is_one_that_could_be_new(changes):
    program = dict(PLAIN)
    for sent in changes:
        try:
            program |= program_changes.merge(program, sent, home=USD)
        except Refused:
            continue

        assert {**program, **terms.complete(program, home=USD)} == program


@given(CHANGES)
def test_a_change_that_is_sent_twice_changes_nothing_the_second_time(changes):
    program = dict(PLAIN)
    for sent in changes:
        try:
            program |= program_changes.merge(program, sent, home=USD)
        except Refused:
            continue

        assert program_changes.merge(program, sent, home=USD) == {}


@given(st.fixed_dictionaries({}, optional=FIELDS))
def test_only_what_differs_is_returned(sent):
    try:
        changed = program_changes.merge(PLAIN, sent, home=USD)
    except Refused:
        return

    assert all(PLAIN[column] != value for column, value in changed.items())
    assert program_changes.merge(PLAIN, {}, home=USD) == {}


def test_a_rate_that_a_new_model_cannot_have_is_named():
    with pytest.raises(Refused, match=r"the rate 12\.5 Percentage, which is not possible in a Cpc program") as refusal:
        program_changes.check_stored_rates(
            "Cpc", [("Fixed", Decimal(1), USD), ("Percentage", Decimal("12.500000"), USD)]
        )

    assert (refusal.value.code, refusal.value.field) == ("invalid_commission_type", "defaultCommissionModel")


def test_a_kept_fee_is_measured_in_its_own_currency():
    dinar = ceilings.Home(currency="KWD", per_usd=Decimal("0.3"))

    program_changes.check_stored_rates("Cpc", [("Fixed", Decimal(300), dinar), ("Fixed", Decimal(1000), USD)])

    with pytest.raises(Refused, match=r"the rate 301 Fixed, which is not possible in a Cpc program"):
        program_changes.check_stored_rates("Cpc", [("Fixed", Decimal(301), dinar)])


EUR = ceilings.Home(currency="EUR", per_usd=Decimal("0.9"))
_AMOUNTS = {**terms.CURRENCY_OF, "default_commission_value": "fee_currency"}


@given(CHANGES, st.fixed_dictionaries({}, optional=FIELDS))
def test_an_amount_that_is_sent_is_in_the_home_currency_of_now_and_any_other_keeps_its_own(before, sent):
    program = dict(PLAIN)
    try:
        for change in before:
            program |= program_changes.merge(program, change, home=USD)
        changed = program | program_changes.merge(program, sent, home=EUR)
    except Refused:
        return

    for amount, currency in _AMOUNTS.items():
        is_new = amount in sent or program[currency] is None
        assert changed[currency] in (None, "EUR" if is_new else "USD")
        if amount not in sent and changed[amount] is not None:
            assert changed[amount] == program[amount]
    assert all((changed[amount] is None) == (changed[of] is None) for amount, of in terms.CURRENCY_OF.items())
    is_fee = changed["default_commission_model"] != "Cps" and changed["default_commission_type"] == "Fixed"
    assert (changed["fee_currency"] is not None) == is_fee


def test_the_same_number_sent_again_is_measured_as_what_it_is_now():
    highest = 10**10
    program = PLAIN | {"budget_cents": highest, "budget_currency": "USD"}

    assert program_changes.merge(program, {"name": "Summer"}, home=EUR) == {"name": "Summer"}
    with pytest.raises(Refused) as refusal:
        program_changes.merge(program, {"budget_cents": highest}, home=EUR)
    assert refusal.value.code == "budget_out_of_range"
    less = {"budget_cents": 9 * 10**9}
    assert program_changes.merge(program, less, home=EUR) == less | {"budget_currency": "EUR"}


def test_what_stays_in_a_former_home_currency_is_not_measured_with_todays_rate_by_another_model():
    dear = ceilings.Home(currency="EUR", per_usd=Decimal("0.000001"))
    clicks = {"default_commission_model": "Cpc", "default_commission_type": "Fixed"}
    program = PLAIN | clicks | {"default_commission_value": Decimal(900), "fee_currency": "USD", "budget_cents": 10**10}
    program |= {"budget_currency": "USD", "lead_bounty_cents": 500, "lead_bounty_currency": "USD"}

    changed = program_changes.merge(program, {"default_commission_model": "Cpl"}, home=dear)

    assert changed == {"default_commission_model": "Cpl", "lead_bounty_cents": None, "lead_bounty_currency": None}


def test_a_fixed_commission_that_becomes_a_fee_is_in_the_home_currency_of_now_and_loses_it_again():
    program = PLAIN | {"default_commission_type": "Fixed", "default_commission_value": Decimal(5)}

    fee = program | program_changes.merge(program, {"default_commission_model": "Cpc"}, home=USD)
    back = program_changes.merge(fee, {"default_commission_model": "Cps"}, home=EUR)

    assert fee["fee_currency"] == "USD"
    assert back == {"default_commission_model": "Cps", "fee_currency": None}
