"""The payments of a customer that earn: window, delay, customer identity (core spec, section 2, rule 4)."""

import itertools
from datetime import UTC, datetime

import pytest

from models import db
from pipelines.conversions import acceptance
from schemas.conversions.sale import SaleBody
from tests.support.rows.refund_requests import post_refund

_NUMBERS = itertools.count(1)


def _sell(brand, at=None, **fields):
    """Accept a sale of 100 dollars at the given time."""
    body = {"externalEventId": f"order-{next(_NUMBERS)}", "affiliateSlug": "ben", "amountCents": 10_000} | fields
    with db.unit_of_work(brand.id):
        receipt = acceptance.accept_sale(
            organization_id=brand.id,
            body=SaleBody().load(body),
            is_test=False,
            now=datetime.fromisoformat(at).astimezone(UTC) if at else datetime.now(UTC),
        )
    assert receipt.conversion_id is not None
    return body["externalEventId"]


def _list_commissions(brand):
    """Return (commission, type) in the order of the payments."""
    return brand.rows("select commission_cents, type from conversion order by occurred_at, id")


@pytest.mark.parametrize(
    ("months", "first", "later", "earned"),
    [
        (1, "2025-01-31T10:00:00+00:00", "2025-02-28T09:59:59.999+00:00", 2_000),
        (1, "2025-01-31T10:00:00+00:00", "2025-02-28T10:00:00+00:00", 0),
        (1, "2024-01-31T10:00:00+00:00", "2024-02-28T23:59:59+00:00", 2_000),
        (1, "2024-01-31T10:00:00+00:00", "2024-02-29T09:59:59+00:00", 2_000),
        (1, "2024-01-31T10:00:00+00:00", "2024-02-29T10:00:00+00:00", 0),
        (2, "2025-01-31T10:00:00+00:00", "2025-03-31T09:59:59+00:00", 2_000),
        (2, "2025-01-31T10:00:00+00:00", "2025-03-31T10:00:00+00:00", 0),
        (3, "2025-01-31T00:00:00+00:00", "2025-04-30T00:00:00+00:00", 0),
        (12, "2024-02-29T12:00:00+00:00", "2025-02-28T11:59:59+00:00", 2_000),
        (12, "2024-02-29T12:00:00+00:00", "2025-02-28T12:00:00+00:00", 0),
        (1, "2025-03-31T23:30:00-02:00", "2025-05-01T01:29:59+00:00", 2_000),
        (1, "2025-03-31T23:30:00-02:00", "2025-05-01T01:30:00+00:00", 0),
        (0, "2025-01-01T00:00:00+00:00", "2025-01-01T00:00:00.001+00:00", 0),
        (None, "2001-01-01T00:00:00+00:00", "2025-01-01T00:00:00+00:00", 2_000),
        (1200, "2001-01-01T00:00:00+00:00", "2025-01-01T00:00:00+00:00", 2_000),
    ],
)
def test_window_is_half_open_calendar_months_from_the_first_payment(brand, drain, *, months, first, later, earned):
    brand.program(recurring_months=months)
    brand.affiliate("ben")

    for at in (first, later):
        _sell(brand, at, customerId="cus_1")
        drain()

    assert _list_commissions(brand) == [(2_000, "OneTime"), (earned, "Recurring")]


def test_window_starts_at_the_first_payment_for_every_renewal(brand, drain):
    brand.program(recurring_months=1)
    brand.affiliate("ben")

    for at in ("2025-01-31T00:00Z", "2025-02-27T00:00Z", "2025-03-15T00:00Z", "2025-06-01T00:00Z"):
        _sell(brand, at, customerId="cus_1")
        drain()

    assert _list_commissions(brand) == [(2_000, "OneTime"), (2_000, "Recurring"), (0, "Recurring"), (0, "Recurring")]


def test_zero_commission_payment_is_still_a_conversion(brand, drain):
    brand.program(recurring_months=0)
    brand.affiliate("ben")

    for _ in range(2):
        _sell(brand, customerId="cus_1")
        drain()

    assert brand.rows("select commission_cents, status, payability from conversion order by occurred_at") == [
        (2_000, "Pending", "payable"),
        (0, "Pending", "payable"),
    ]
    assert brand.rows("select count(*) from event where type = 'conversion.created'") == [(2,)]
    assert brand.rows("select event_type, commission_cents from conversion_event order by occurred_at") == [
        ("initial", 2_000),
        ("renewal", 0),
    ]
    assert brand.rows("select amount_cents from ledger_entry") == [(2_000,)]


@pytest.mark.parametrize(
    ("delay", "months", "earned"),
    [
        (0, None, [2_000, 2_000, 2_000, 2_000]),
        (1, None, [0, 2_000, 2_000, 2_000]),
        (3, None, [0, 0, 0, 2_000]),
        (9, None, [0, 0, 0, 0]),
        (1, 0, [0, 0, 0, 0]),
        (1, 3, [0, 2_000, 2_000, 0]),
    ],
)
def test_first_invoices_of_a_customer_are_skipped_by_count(brand, drain, delay, months, earned):
    brand.program(recurring_delay_invoices=delay, recurring_months=months)
    brand.affiliate("ben")

    for month in (1, 2, 3, 4):
        _sell(brand, f"2025-0{month}-10T00:00Z", customerId="cus_1")
        drain()

    assert [cents for cents, _ in _list_commissions(brand)] == earned
    assert [kind for _, kind in _list_commissions(brand)] == ["OneTime", "Recurring", "Recurring", "Recurring"]


def test_refunds_do_not_renumber_invoices(brand, drain):
    brand.program(recurring_delay_invoices=2)
    brand.affiliate("ben")

    first = _sell(brand, customerId="cus_1")
    drain()
    assert post_refund(brand, first).status_code == 200
    for _ in range(2):
        _sell(brand, customerId="cus_1")
        drain()

    assert _list_commissions(brand) == [(0, "OneTime"), (0, "Recurring"), (2_000, "Recurring")]


def test_refunded_first_payment_stays_first(brand, drain):
    brand.program(recurring_months=0)
    brand.affiliate("ben")

    post_refund(brand, _sell(brand, customerId="cus_1"))
    drain()
    _sell(brand, customerId="cus_1")
    drain()

    assert _list_commissions(brand)[1] == (0, "Recurring")


@pytest.mark.parametrize(
    ("first", "second", "is_same"),
    [
        ({"customerId": "cus_1"}, {"customerId": "cus_1"}, True),
        ({"customerId": "cus_1"}, {"customerId": "cus_2"}, False),
        ({"customerId": "cus_1"}, {"customerId": "CUS_1"}, False),
        (
            {"customerId": "cus_1", "customerEmail": "a@x.test"},
            {"customerId": "cus_1", "customerEmail": "b@x.test"},
            True,
        ),
        (
            {"customerId": "cus_1", "customerEmail": "a@x.test"},
            {"customerId": "cus_2", "customerEmail": "a@x.test"},
            False,
        ),
        ({"customerEmail": "a@x.test"}, {"customerEmail": "a@x.test"}, True),
        ({"customerEmail": "a@x.test"}, {"customerEmail": " A@X.TEST "}, True),
        ({"customerEmail": "a@x.test"}, {"customerEmail": "a+news@x.test"}, True),
        ({"customerEmail": "a.b@gmail.com"}, {"customerEmail": "ab@googlemail.com"}, True),
        ({"customerEmail": "a.b@x.test"}, {"customerEmail": "ab@x.test"}, False),
        ({"customerEmail": "a@x.test"}, {"customerEmail": "b@x.test"}, False),
        ({"customerEmail": "cus_1"}, {"customerId": "cus_1"}, False),
        ({"customerId": ""}, {"customerId": ""}, False),
        ({"customerId": "  ", "customerEmail": "a@x.test"}, {"customerEmail": "a@x.test"}, True),
        ({}, {}, False),
        ({"customerName": "Zoe"}, {"customerName": "Zoe"}, False),
    ],
)
def test_customer_is_identified_by_billing_id_or_email(brand, drain, first, second, is_same):
    brand.program(recurring_months=0)
    brand.affiliate("ben")

    for buyer in (first, second):
        _sell(brand, **buyer)
        drain()

    assert _list_commissions(brand)[1] == ((0, "Recurring") if is_same else (2_000, "OneTime"))


def test_customer_identity_is_per_campaign(brand, drain):
    for slug in ("ben", "zoe"):
        brand.program(recurring_months=0)
        brand.affiliate(slug)

    _sell(brand, customerId="cus_1", affiliateSlug="ben")
    _sell(brand, customerId="cus_1", affiliateSlug="zoe")
    drain()

    assert _list_commissions(brand) == [(2_000, "OneTime"), (2_000, "OneTime")]


def test_customer_identity_spans_affiliates(brand, drain):
    brand.program(recurring_months=0)
    for slug in ("ben", "zoe"):
        brand.affiliate(slug)

    for slug in ("ben", "zoe"):
        _sell(brand, customerId="cus_1", affiliateSlug=slug)
        drain()

    assert _list_commissions(brand) == [(2_000, "OneTime"), (0, "Recurring")]


def test_customer_identity_is_per_tenant(brand, rival, drain):
    for tenant in (brand, rival):
        tenant.program(recurring_months=0)
        tenant.affiliate("ben")
        _sell(tenant, customerId="cus_1")
    drain()

    assert _list_commissions(brand) == _list_commissions(rival) == [(2_000, "OneTime")]


def test_earlier_payment_in_history_moves_the_window(brand, drain):
    brand.program(recurring_months=1)
    brand.affiliate("ben")
    _sell(brand, "2025-03-01T00:00Z", customerId="cus_1")
    drain()
    with db.unit_of_work(brand.id):
        db.db.run("update program_customer set first_paid_at = '2025-01-01T00:00Z'")

    _sell(brand, "2025-03-02T00:00Z", customerId="cus_1")
    drain()

    assert _list_commissions(brand) == [(2_000, "OneTime"), (0, "Recurring")]


def test_second_payment_refunded_unsettled_leaves_the_first(brand, drain):
    brand.program(recurring_months=0)
    brand.affiliate("ben")
    _sell(brand, "2025-03-01T00:00Z", customerId="cus_1")
    second = _sell(brand, "2025-03-02T00:00Z", customerId="cus_1")

    post_refund(brand, second)
    drain()

    assert _list_commissions(brand) == [(2_000, "OneTime"), (0, "Recurring")]
