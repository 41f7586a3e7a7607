"""Which field of a brought customer is the billing system's id (switch-over rules, "Customers")."""

import pytest

from domain.switches.rules import customer_ids
from domain.switches.rules.customer_ids import CustomerIds


@pytest.mark.parametrize("rule", ["auto", "billing", "own"])
def test_certain_billing_id_counts_under_every_rule(rule):
    ids = customer_ids.choose(billing_id="cus_1", claimed_id="user-7", email="a@b.example", rule=rule)

    assert ids == CustomerIds("cus_1", "a@b.example")


@pytest.mark.parametrize("claimed_id", ["cus_1", "ctm_1", "customer_1"])
def test_auto_takes_an_id_with_a_billing_prefix(claimed_id):
    assert customer_ids.choose(billing_id=None, claimed_id=claimed_id, email=None, rule="auto").billing_id == claimed_id


@pytest.mark.parametrize("claimed_id", ["user-7", "42", "CUS_1", "my_cus_1"])
def test_auto_ignores_an_id_without_a_billing_prefix(claimed_id):
    assert customer_ids.choose(billing_id=None, claimed_id=claimed_id, email=None, rule="auto").billing_id is None


@pytest.mark.parametrize("claimed_id", ["cus_1", "user-7", "ann@shop.example"])
def test_billing_always_takes_the_claimed_id(claimed_id):
    assert (
        customer_ids.choose(billing_id=None, claimed_id=claimed_id, email=None, rule="billing").billing_id == claimed_id
    )


@pytest.mark.parametrize("claimed_id", ["cus_1", "user-7", "ann@shop.example"])
def test_own_never_takes_the_claimed_id(claimed_id):
    assert customer_ids.choose(billing_id=None, claimed_id=claimed_id, email=None, rule="own").billing_id is None


@pytest.mark.parametrize("claimed_id", ["ann@shop.example", "cus_ann@shop.example"])
def test_auto_takes_an_address_as_the_email(claimed_id):
    ids = customer_ids.choose(billing_id=None, claimed_id=claimed_id, email=None, rule="auto")

    assert ids == CustomerIds(None, claimed_id)


def test_email_of_the_row_comes_before_an_address_in_the_id():
    ids = customer_ids.choose(billing_id=None, claimed_id="old@shop.example", email="ann@shop.example", rule="auto")

    assert ids == CustomerIds(None, "ann@shop.example")


def test_customer_without_any_name_has_neither():
    assert customer_ids.choose(billing_id=None, claimed_id=None, email=None, rule="billing") == CustomerIds(None, None)
