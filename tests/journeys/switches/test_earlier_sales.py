"""Refunds of sales that an earlier switch of the same source brought and that the list shows no more.

Source: the switch-over rules, "How rows become records" (a negative row) and "Known and changed".
"""

import pytest

from domain.switches.records import CommissionKind
from tests.support.rows.brands import Brand
from tests.support.switches import undoing
from tests.support.switches.judged_rows import list_exceptions
from tests.support.switches.scene import days_ago
from tests.support.switches.source_records import (
    build_commission,
    find_payable,
    list_conversions,
    read,
    run,
    sum_balances,
)

_NAMES = {"billing_id": "cus_1", "subscription_id": "sub_1", "customer_email": "Jo@example.com"}
_TAKEN = "reversed_cents"


@pytest.fixture
def brand(brand: Brand) -> Brand:
    brand.program()
    return brand


def _bring_sales(brand, monkeypatch, **fields):
    ages = {"c1": 40, "c2": 30}
    rows = [
        build_commission(name, kind=CommissionKind.Owed, occurred_at=days_ago(age), **_NAMES | fields)
        for name, age in ages.items()
    ]
    return run(read(brand, monkeypatch, rows))


def _build_refund(source_id="r1", affiliate="ann", **fields):
    usual = {"kind": CommissionKind.Owed, "amount_cents": -2_500, "commission_cents": -500, "payment": "unknown"}
    return build_commission(source_id, affiliate, **usual | fields)


@pytest.mark.parametrize("name", list(_NAMES))
def test_refund_is_taken_from_the_newest_sale_of_the_customer(brand, monkeypatch, name):
    _bring_sales(brand, monkeypatch)
    second = read(brand, monkeypatch, [_build_refund(**{name: _NAMES[name]})])

    run(second)

    assert find_payable(second) == -500
    assert sum_balances(brand) == 3_500
    assert list_conversions(brand, _TAKEN) == {"c1": (0,), "c2": (500,)}
    third = run(read(brand, monkeypatch, [_build_refund(**{name: _NAMES[name]})]))
    assert third.verdicts("commissions") == {"r1": "known"}
    undoing.undo(second)
    assert sum_balances(brand) == 4_000
    assert list_exceptions(brand.id) == []


def test_refunds_take_what_earlier_ones_left(brand, monkeypatch):
    _bring_sales(brand, monkeypatch, payment=None)
    run(read(brand, monkeypatch, [_build_refund(commission_cents=-1_500, **_NAMES)]))
    rows = [_build_refund(f"r{number}", commission_cents=-1_500, **_NAMES) for number in (2, 3)]
    second = run(read(brand, monkeypatch, rows))

    assert second.reasons("commissions") == {"r2": None, "r3": "negative_without_sale"}
    assert list_conversions(brand, _TAKEN) == {"c1": (1_500,), "c2": (1_500,)}


def test_refund_finds_the_known_sale_of_its_payment_and_what_is_left_of_it(brand, monkeypatch):
    sales = [
        build_commission("c1", kind=CommissionKind.Owed, payment="p1", occurred_at=days_ago(40), **_NAMES),
        build_commission("c2", kind=CommissionKind.Owed, payment="p2", occurred_at=days_ago(30), **_NAMES),
    ]
    run(read(brand, monkeypatch, sales))
    first = _build_refund(payment="p1", commission_cents=-1_500)
    run(read(brand, monkeypatch, [*sales, first]))

    last = read(brand, monkeypatch, [*sales, first, _build_refund("r2", payment="p1", commission_cents=-1_500)])
    run(last)

    assert find_payable(last) == -500
    assert list_conversions(brand, _TAKEN) == {"c1": (2_000,), "c2": (0,)}


@pytest.mark.parametrize(
    "fields",
    [
        {"affiliate": "ben", "billing_id": "cus_1"},
        {"billing_id": "cus_2"},
        {"billing_id": "cus_2", "customer_email": "jo@example.com"},
        {"billing_id": "cus_1", "currency": "EUR"},
        {"billing_id": "cus_1", "occurred_at": days_ago(50)},
        {"billing_id": "cus_1", "commission_cents": -2_001},
        {},
    ],
    ids=["affiliate", "customer", "same_email", "currency", "earlier", "too_much", "without_customer"],
)
def test_refund_that_fits_no_earlier_sale_is_left_out(brand, monkeypatch, fields):
    _bring_sales(brand, monkeypatch)
    second = read(brand, monkeypatch, [_build_refund(**fields)])

    run(second)

    assert second.reasons("commissions") == {"r1": "negative_without_sale"}
    assert sum_balances(brand) == 4_000
