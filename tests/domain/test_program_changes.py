"""A changed program obeys the rules of a new one (core spec, "Program fields accepted on create or update")."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain import ceilings, program_changes, program_terms
from domain.refused import Refused

USD = ceilings.Home(currency="USD", per_usd=None)
PLAIN = {
    "name": "Spring",
    "default_commission_model": "Cps",
    "default_commission_type": "Percentage",
    "default_commission_value": Decimal(20),
    "sale_commission_type": None,
    "sale_commission_value": None,
    "budget_cents": None,
    "lead_bounty_cents": None,
    "click_reward_cents": None,
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
            program |= program_changes.settle(program, sent, home=USD)
        except Refused:
            continue

        assert {**program, **program_terms.settle(program, home=USD)} == program


@given(CHANGES)
def test_a_change_that_is_sent_twice_changes_nothing_the_second_time(changes):
    program = dict(PLAIN)
    for sent in changes:
        try:
            program |= program_changes.settle(program, sent, home=USD)
        except Refused:
            continue

        assert program_changes.settle(program, sent, home=USD) == {}


@given(st.fixed_dictionaries({}, optional=FIELDS))
def test_only_what_differs_is_returned(sent):
    try:
        changed = program_changes.settle(PLAIN, sent, home=USD)
    except Refused:
        return

    assert all(PLAIN[column] != value for column, value in changed.items())
    assert program_changes.settle(PLAIN, {}, home=USD) == {}


def test_a_rate_that_a_new_model_cannot_have_is_named():
    with pytest.raises(Refused, match=r"the rate 12\.5 Percentage, which a Cpc program cannot have") as refusal:
        program_changes.check_kept_rates("Cpc", [("Fixed", Decimal(1)), ("Percentage", Decimal("12.500000"))], home=USD)

    assert (refusal.value.code, refusal.value.field) == ("invalid_commission_type", "defaultCommissionModel")
