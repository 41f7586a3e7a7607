"""A sale whose tax, shipping, discount or net amount is unreadable is booked by the amount paid, at each gateway."""

import pytest

from tests.support.gateways.figures import FIGURES, MISSING, resend_sale
from tests.support.gateways.stage import Purchase
from tests.support.gateways.stages import all_gateways

_INVALID = {
    "negative": ("-1.74", "-174"),
    "over-precise": ("1.2345678", "174.5"),
    "missing": (MISSING, MISSING),
    "not-a-number": ("x", "9" * 40),
}


@pytest.mark.parametrize("kind", _INVALID)
@all_gateways
def test_unreadable_amounts_never_fail_the_sale(shop, kind):
    stage, (major, minor) = shop.stage, _INVALID[kind]
    figures = FIGURES[stage.gateway.name]
    if stage.gateway.name == "paypal":  # without a total an order is not compared with the amount paid
        figures = tuple(figure for figure in figures if figure.name != "total")
    changes = {figure.path: minor if figure.is_minor else major for figure in figures}
    expected = []
    for basis in ("gross", "net"):
        shop.brand.set(commissionBasis=basis)
        number = str(len(expected) + 1)
        sale = stage.pay(Purchase(cents=10_000, customer=number, email=f"buyer{number}@example.com"))
        shop.receive(*resend_sale(stage, sale, changes))
        expected.append((sale.id, 10_000, 2_000))
    assert sorted(shop.conversions("external_event_id, amount_cents, commission_cents")) == sorted(expected)
    assert {status for (status,) in shop.events("status")} <= {"Processed", "Ignored"}
    assert shop.brand.rows("select count(*) from job where failed_at is not null") == [(0,)]


@pytest.mark.parametrize("stage", ["woocommerce"], indirect=True)
def test_woocommerce_amounts_finer_than_cents_are_rounded(shop):
    sale = shop.stage.pay(Purchase(cents=10_000, currency="EUR"))
    order = shop.stage.orders[int(sale.id)]
    order |= {"total": "108.9049", "total_tax": "18.9049"}
    shop.receive(shop.stage.notify(order))
    order["refunds"] = [{"id": 9_001, "total": "-33.3333"}]
    shop.receive(shop.stage.notify(order))
    assert shop.conversions("amount_cents, refunded_cents") == [(10_890, 3_333)]
    assert {status for (status,) in shop.events("status")} == {"Processed"}


@pytest.mark.parametrize("stage", ["shopify"], indirect=True)
def test_unreadable_present_total_never_fails_the_shopify_sale(shop):
    sale = shop.stage.pay(Purchase(cents=10_000))
    order = shop.stage.orders[sale.id]
    shop.receive(shop.stage.notify("orders/paid", order | {"current_total_price": "-1.74"}))
    assert shop.conversions("amount_cents, commission_cents, refunded_cents") == [(10_000, 2_000, 0)]

    shop.advance_clock()
    shop.receive(*shop.stage.change_total(sale, 4_000))
    assert shop.conversions("amount_cents, refunded_cents, reversed_cents") == [(10_000, 6_000, 1_200)]


@pytest.mark.parametrize("stage", ["woocommerce"], indirect=True)
def test_unreadable_refund_is_parked_while_its_sale_is_booked(shop):
    sale = shop.stage.pay(Purchase(cents=10_000))
    order = shop.stage.orders[int(sale.id)]
    order["refunds"] = [{"id": 9_001, "total": "a lot"}, {"id": 9_002, "total": "-40.00"}]
    shop.receive(shop.stage.notify(order))
    assert shop.conversions("amount_cents, refunded_cents") == [(10_000, 4_000)]
    assert shop.events("status, reason") == [("Parked", "refund_amount_unknown")]


def test_stripe_downgrade_is_a_zero_payment(shop):
    downgrade = resend_sale(shop.stage, shop.stage.pay(Purchase()), {("amount_paid",): 0, ("total",): -5_000})
    shop.receive(*downgrade)
    assert shop.conversions() == []
    assert {status for (status,) in shop.events("status")} == {"Processed"}
    assert shop.brand.rows("select count(*) from job where failed_at is not null") == [(0,)]
