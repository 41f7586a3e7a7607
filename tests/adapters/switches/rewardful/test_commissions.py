"""Rewardful's commissions: states, amounts of their sales, and affiliates whom only they name."""

from datetime import datetime

import pytest

from adapters.switches.base import UnreadableRow
from domain.statuses import AffiliateStatus
from domain.switches.records import AffiliateRef, CommissionKind
from domain.switches.sources import Collection


@pytest.fixture
def walk(start):
    return start("rewardful")


@pytest.fixture
def commission(walk):
    return dict(walk.account["commissions"][0])


def _read_one(walk, collection, row):
    """Return the record of a commission that is added to the account."""
    walk.account["commissions"].append(row)
    walk.walk()
    return walk.record(collection, row["id"])


@pytest.mark.parametrize(
    ("state", "kind"),
    [
        ("pending", CommissionKind.Pending),
        ("due", CommissionKind.Owed),
        ("paid", CommissionKind.Paid),
        ("voided", CommissionKind.Refunded),
        ("lost", None),
        (None, None),
    ],
)
def test_states_of_commissions(walk, commission, state, kind):
    record = _read_one(walk, Collection.Commissions, {**commission, "id": "new", "state": state})

    assert (record.kind, record.word) == (kind, state or "")


def test_a_commission_names_its_sale_customer_and_campaign(walk):
    walk.walk()

    row = walk.account["commissions"][0]
    record = walk.record(Collection.Commissions, row["id"])
    assert (record.currency, record.commission_cents) == (row["currency"], row["amount"])
    assert record.amount_cents == row["sale"]["charge_amount_cents"] - row["sale"]["tax_amount_cents"]
    assert record.occurred_at == datetime.fromisoformat(row["sale"]["charged_at"])
    assert record.due_at == datetime.fromisoformat(row["due_at"])
    assert (record.payment, record.charge_id) == (row["sale"]["id"], row["sale"]["stripe_charge_id"])
    assert record.customer == row["sale"]["referral"]["id"]
    assert record.billing_id == row["sale"]["referral"]["stripe_customer_id"]
    assert record.affiliate.id == row["sale"]["affiliate"]["id"]
    assert record.campaign == row["campaign"]["id"]
    assert record.warnings == ()


@pytest.mark.parametrize(
    ("sale", "expected"),
    [
        ({"charge": 1200, "tax": 200, "refund": 0, "sale": 1000}, (1000, 0, ())),
        ({"charge": 1200, "tax": 200, "refund": 400, "sale": 1000}, (1000, 400, ())),
        ({"charge": 1200, "tax": 200, "refund": 400, "sale": 600}, (1000, 400, ())),
        ({"charge": 1200, "tax": 200, "refund": 0, "sale": 900}, (900, 0, ("amounts_disagree",))),
        ({"charge": 1200, "tax": 0, "refund": 1500, "sale": 1200}, (1200, 1200, ())),
        ({"charge": None, "tax": None, "refund": 100, "sale": 900}, (900, 100, ())),
        ({"charge": 1200, "tax": 200, "refund": None, "sale": None}, (1000, 0, ())),
    ],
    ids=[
        "no refund",
        "sale before refunds",
        "sale after refunds",
        "other sale",
        "refund above sale",
        "no charge",
        "no sale",
    ],
)
def test_the_sale_is_after_tax_and_before_refunds(walk, commission, sale, expected):
    row = {
        **commission,
        "id": "new",
        "sale": {
            **commission["sale"],
            "charge_amount_cents": sale["charge"],
            "tax_amount_cents": sale["tax"],
            "refund_amount_cents": sale["refund"],
            "sale_amount_cents": sale["sale"],
        },
    }

    record = _read_one(walk, Collection.Commissions, row)

    assert (record.amount_cents, record.refunded_cents, record.warnings) == expected


def test_a_sale_in_another_currency_counts_as_zero_with_a_warning(walk, commission):
    row = {**commission, "id": "new", "currency": "USD", "sale": {**commission["sale"], "currency": "EUR"}}

    record = _read_one(walk, Collection.Commissions, row)

    assert (record.amount_cents, record.warnings) == (0, ("sale_in_other_currency",))
    assert record.commission_cents == commission["amount"]


def test_a_commission_without_a_sale_names_no_affiliate(walk, commission):
    record = _read_one(walk, Collection.Commissions, {**commission, "id": "new", "sale": None})

    assert (record.affiliate, record.amount_cents, record.customer) == (None, 0, None)
    assert record.occurred_at == datetime.fromisoformat(commission["created_at"])


@pytest.mark.parametrize("amount", ["a lot", [1], True, {}])
def test_an_amount_that_is_no_number_makes_the_row_unreadable(walk, commission, amount):
    walk.account["commissions"].append({**commission, "id": "new", "amount": amount})
    walk.walk()

    with pytest.raises(UnreadableRow):
        walk.record(Collection.Commissions, "new")


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"amount": 10.5}, "amount_out_of_range"),
        ({"amount": 10**15}, "amount_out_of_range"),
        ({"currency": "BTC"}, "unsupported_currency"),
        ({"amount": "1000"}, None),
        ({"amount": 1000.0}, None),
    ],
    ids=str,
)
def test_unusable_amounts_leave_a_commission_out(walk, commission, values, problem):
    assert _read_one(walk, Collection.Commissions, {**commission, "id": "new", **values}).problem == problem


def test_an_affiliate_who_is_only_named_is_a_rejected_mention(walk, commission):
    deleted = {"id": "gone", "email": "gone@example.com", "first_name": "Gone", "last_name": "Unknown"}
    walk.account["commissions"].append(
        {**commission, "id": "new", "sale": {**commission["sale"], "affiliate": deleted}}
    )

    walk.walk()

    [mention] = walk.mentions()
    record = walk.source.understand(mention, walk.context)
    assert (record.source_id, record.email, record.is_mention) == ("gone", "gone@example.com", True)
    assert record.status == AffiliateStatus.Rejected
    assert walk.record(Collection.Commissions, "new").affiliate == AffiliateRef("gone", "gone@example.com", name="Gone")
