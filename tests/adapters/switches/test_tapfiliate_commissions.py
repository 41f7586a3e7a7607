"""Tapfiliate: commissions of conversions, which of them were paid, and the balances that it states."""

from datetime import UTC, datetime

import pytest

from adapters.switches.base import SourceRow
from commands.demo.played.sample import Sample
from domain.switches.reasons import LeftOutReason
from domain.switches.records import AffiliateRef, CommissionKind
from domain.switches.sources import Collection
from tests.support.switches.walking import Walk

_SMALL = Sample(affiliates=3, customers=4, commissions=6, campaigns=1)


@pytest.fixture
def walk(start):
    return start("tapfiliate")


@pytest.fixture
def small(start):
    """Return an account of one program and few rows."""
    return start("tapfiliate", _SMALL)


def _commission(walk: Walk, *, conversion=None, currency="USD", **values):
    data = {
        "id": "1",
        "program": "program-0",
        "conversion": {
            "id": 7,
            "external_id": "ch_1",
            "created_at": "2026-01-01T02:00:00+02:00",
            "affiliate": {"id": "ann", "email": "ann@example.com", "firstname": "Ann", "lastname": "Berg"},
            "customer": {"id": "cu_1", "customer_id": "cus_1"},
        }
        | (conversion or {}),
        "commission": {"id": 1, "amount": 10.5, "conversion_sub_amount": 50, "currency": currency, "approved": True}
        | values,
    }
    return walk.source.understand(SourceRow(Collection.Commissions, "1", data), walk.context)


@pytest.mark.parametrize(
    ("approved", "is_paid", "kind"),
    [
        (True, True, CommissionKind.Paid),
        (True, False, CommissionKind.Owed),
        (None, False, CommissionKind.Pending),
        (False, False, CommissionKind.Denied),
        ("maybe", False, None),
    ],
)
def test_approved_is_not_paid(small, approved, is_paid, kind):
    commission = {**small.account["conversions"][0]["commissions"][0], "approved": approved, "_is_paid": is_paid}
    small.account["conversions"].update(0, commissions=[commission])

    small.walk()

    assert small.record(Collection.Commissions, str(commission["id"])).kind == kind


def test_a_paid_commission_of_a_program_that_is_not_read_adds_nothing(start):
    walk = start("tapfiliate")
    walk.context.campaigns.remove("program-1")
    walk.context.all_campaigns.remove("program-1")  # it was created after connecting

    walk.walk()

    assert {row.data["program"] for row in walk.rows_of(Collection.Commissions)} == {"program-0"}


def test_a_commission_has_its_sale_and_names_both_sides(walk):
    record = _commission(walk)

    assert (record.currency, record.amount_cents, record.commission_cents) == ("USD", 5_000, 1_050)
    assert record.affiliate == AffiliateRef("ann/program-0", "ann@example.com", name="Ann Berg", campaign="program-0")
    assert (record.customer, record.claimed_id) == ("cu_1", "cus_1")
    assert (record.payment, record.charge_id) == ("7", "ch_1")
    assert record.occurred_at == datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("currency", "amount", "cents"),
    [
        ("USD", 0.29, 29),
        ("EUR", 1234567.89, 123_456_789),
        ("USD", "19.990", 1_999),
        ("JPY", 1234, 1_234),
        ("JPY", 1234.0, 1_234),
        ("KWD", 1.005, 1_005),
        ("KWD", "-0.001", -1),
        ("USD", None, 0),
    ],
)
def test_decimals_become_minor_units_exactly(walk, currency, amount, cents):
    record = _commission(walk, currency=currency, amount=amount, conversion_sub_amount=amount)

    assert (record.amount_cents, record.commission_cents, record.problem) == (cents, cents, None)


@pytest.mark.parametrize(("currency", "amount"), [("USD", 0.295), ("JPY", 0.5), ("KWD", "1.0005")])
def test_more_decimals_than_the_currency_has_are_out_of_range(walk, currency, amount):
    assert _commission(walk, currency=currency, amount=amount).problem == LeftOutReason.AmountOutOfRange


def test_a_commission_without_a_currency_has_that_of_its_program(walk):
    assert _commission(walk, currency=None).currency == "USD"
    assert _commission(walk, currency="XXX").problem == LeftOutReason.UnsupportedCurrency


@pytest.mark.parametrize("customer", [None, {}, {"customer_id": None}])
def test_a_conversion_may_have_no_customer(walk, customer):
    record = _commission(walk, conversion={"customer": customer})

    assert (record.customer, record.claimed_id) == (None, None)


def test_a_recruiters_commission_is_theirs(walk):
    record = _commission(walk, affiliate={"id": "ben", "email": "ben@example.com"})

    assert record.affiliate.id == "ben/program-0"
    assert record.payment == "7"


@pytest.mark.parametrize("commissions", [None, [], "none"])
def test_a_conversion_without_commissions_is_no_row(small, commissions):
    small.account["conversions"].update(0, commissions=commissions)

    small.walk()

    assert len(small.rows_of(Collection.Commissions)) == 5


def test_balances_and_payments_are_those_of_the_commissions(start):
    walk = start("tapfiliate", Sample(campaigns=1, currencies=("JPY", "KWD"))).walk()

    balances: dict[tuple[str, str], int] = {}
    for record in walk.understand(Collection.Commissions):
        key = record.affiliate.id, record.currency
        if record.kind in (CommissionKind.Paid, CommissionKind.Owed):
            balances[key] = balances.get(key, 0) + record.commission_cents
    for record in walk.understand(Collection.Payouts):
        assert record.is_done
        balances[record.affiliate.id, record.currency] -= record.cents
    stated = {(subject, code): value for (name, subject, code), value in walk.figures.items() if name == "balance"}
    assert stated == balances
    assert {code for _, code in stated} == {"JPY", "KWD"}
    assert any(stated.values())


def test_a_balance_may_be_negative_and_name_one_currency(small):
    small.account["balances"].append({"affiliate": {"id": "partner-2"}, "currency": "EUR", "balance": -12.5})
    small.account["balances"].append({"affiliate": {"id": "partner-2"}, "currency": "GBP", "balance": "much"})

    small.walk()

    assert small.figures["balance", "partner-2/program-0", "EUR"] == -1_250
    assert ("balance", "partner-2/program-0", "GBP") not in small.figures


def test_balances_of_several_programs_together_are_no_figure(walk):
    walk.walk()

    assert not [name for name, _, _ in walk.figures if name == "balance"]
    payout = walk.understand(Collection.Payouts)[0]
    assert payout.affiliate.id is None
    assert payout.affiliate.email.endswith("@example.com")


@pytest.mark.parametrize(
    ("status", "is_done"), [("paid", True), (None, True), ("pending", False), ("cancelled", False)]
)
def test_a_payment_is_done_unless_its_status_says_otherwise(small, status, is_done):
    small.account["payments"].append(
        {"id": "p", "affiliate": {"id": "partner-0"}, "amount": "7.5", "currency": "eur", "status": status}
    )

    small.walk()

    record = small.record(Collection.Payouts, "p")
    assert (record.is_done, record.cents, record.currency) == (is_done, 750, "EUR")
    assert record.affiliate.id == "partner-0/program-0"
