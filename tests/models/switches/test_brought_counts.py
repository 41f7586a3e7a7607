"""Counting payments of the former system, and taking them back, leaves what other sources counted.

Source: the switch-over rules, "First payment and ordinals" and "Undo".
"""

from datetime import timedelta

import pytest

from models import db
from models.affiliates import tracking_links
from models.switches import brought_customers, old_tokens
from tests.support.api.import_requests import build_past_sale, import_sales
from tests.support.job_queues import drain
from tests.support.switches.brought_rows import (
    FIRST_PAID_AT,
    add_old_token,
    bring_customer,
    build_count,
    insert_switch,
    take_back,
)

_NAMES = [
    {"customer_id": "cus_1"},
    {"email": "ann@example.com"},
    {"subscription_id": "sub_1"},
    {"customer_id": "cus_1", "email": "ann@example.com", "subscription_id": "sub_1"},
    {"email": "ann@example.com", "subscription_id": "sub_1"},
    {"customer_id": "17", "email": "ann@example.com"},
]


@pytest.fixture
def ben(brand):
    """Return an affiliate of the brand."""
    brand.program()
    return brand.affiliate("ben")


def _list_counts(brand):
    return brand.rows(
        "select customer_key, payments, first_paid_at from program_customer where payments > 0 order by 1"
    )


@pytest.mark.parametrize("names", _NAMES)
def test_counts_are_taken_back_without_a_trace(brand, ben, names):
    customer = bring_customer(brand, ben, payments=3, **names)
    ((_, payments, first_paid_at),) = _list_counts(brand)
    assert (payments, first_paid_at) == (3, FIRST_PAID_AT)

    take_back(brand, customer)

    assert brand.rows("select from program_customer union all select from import_customer") == []
    assert brand.rows("select from brought_customer") == []


@pytest.mark.parametrize("names", [names for names in _NAMES if "subscription_id" not in names])
def test_a_sale_in_between_keeps_its_count_and_time(brand, ben, names):
    customer = bring_customer(brand, ben, payments=3, **names)
    fields = {"customerId": names.get("customer_id", "cus_9"), "customerEmail": names.get("email")}
    assert brand.sale(affiliateSlug="ben", **fields).status_code == 200
    drain()
    ((_, payments, first_paid_at),) = _list_counts(brand)
    is_joined = payments == 4
    assert (is_joined, first_paid_at) == (True, FIRST_PAID_AT)

    take_back(brand, customer)

    ((_, payments, first_paid_at),) = _list_counts(brand)
    assert payments == 1
    assert first_paid_at > FIRST_PAID_AT


def test_an_import_in_between_keeps_its_count(brand, ben):
    customer = bring_customer(brand, ben, payments=2, email="ann@example.com")
    sale = build_past_sale(processorCustomerId="cus_1", customerEmail="ann@example.com")
    job = import_sales(brand, sale).json["jobId"]
    assert [payments for _, payments, _ in _list_counts(brand)] == [3]

    take_back(brand, customer)
    assert [payments for _, payments, _ in _list_counts(brand)] == [1]
    assert brand.person("Admin").post(f"/api/imports/{job}/undo").status_code == 200

    assert _list_counts(brand) == []


def test_undone_import_keeps_the_counts_of_a_switch(brand, ben):
    sale = build_past_sale(processorCustomerId="cus_1", customerEmail="ann@example.com", occurredAt="2025-01-31")
    job = import_sales(brand, sale).json["jobId"]
    bring_customer(brand, ben, payments=2, customer_id="cus_1")
    assert [payments for _, payments, _ in _list_counts(brand)] == [3]

    assert brand.person("Admin").post(f"/api/imports/{job}/undo").status_code == 200

    assert _list_counts(brand) == [("id:cus_1", 2, FIRST_PAID_AT)]


def test_second_switch_adds_and_takes_back_only_its_own(brand, ben):
    customer = bring_customer(brand, ben, payments=2, customer_id="cus_1")
    later = insert_switch(brand)
    with db.unit_of_work(brand.id):
        count = build_count(customer)
        brought_customers.stage_counts([count], organization_id=brand.id, switch_id=later)
        brought_customers.stage_uncount([count], organization_id=brand.id, switch_id=customer.switch_id)

    assert _list_counts(brand) == [("id:cus_1", 2, FIRST_PAID_AT)]


def test_very_many_payments_take_one_step(brand, ben):
    bring_customer(brand, ben, payments=1_000_000_000, customer_id="cus_1")

    assert [payments for _, payments, _ in _list_counts(brand)] == [1_000_000_000]


def test_a_repeated_slice_updates_the_customer_and_keeps_the_first_switch(brand, ben):
    eva = brand.affiliate("eva")
    customer = bring_customer(brand, ben, customer_id="cus_1")
    later = insert_switch(brand)
    bring_customer(
        brand,
        eva,
        id=customer.id,
        source_id=customer.source_id,
        customer_id="cus_1",
        switch_id=later,
        seen_at=customer.seen_at + timedelta(days=1),
    )

    with db.unit_of_work(brand.id):
        (row,) = brought_customers.list_by_ids(organization_id=brand.id, ids=[customer.id])
        by_source = brought_customers.find_of_source(
            organization_id=brand.id,
            program_ids=brand.programs,
            source="rewardful",
            source_ids=[customer.source_id, "unknown"],
        )
    assert (row.affiliate_id, row.switch_id) == (eva, customer.switch_id)
    assert by_source == [row]


def test_old_token_keeps_its_first_link_and_goes_with_its_switch(brand, rival, ben):
    assert ben
    brand.affiliate("eva")
    first, second = insert_switch(brand), insert_switch(brand)
    add_old_token(brand, "ben", "jo.hn", switch_id=first)
    add_old_token(brand, "eva", "jo.hn", switch_id=second)

    with db.unit_of_work(brand.id):
        assert tracking_links.find_owners(organization_id=brand.id, slugs=["jo.hn", "no"]) == {
            "jo.hn": {"ben@example.com"}
        }
        old_tokens.stage_delete_all(organization_id=brand.id, switch_id=second, tokens=["jo.hn"])
        assert "jo.hn" in tracking_links.find_owners(organization_id=brand.id, slugs=["jo.hn"])
        old_tokens.stage_delete_all(organization_id=brand.id, switch_id=first, tokens=["jo.hn"])
        assert "jo.hn" not in tracking_links.find_owners(organization_id=brand.id, slugs=["jo.hn"])
    with db.unit_of_work(rival.id):
        assert tracking_links.find_owners(organization_id=rival.id, slugs=["jo.hn"]) == {}
