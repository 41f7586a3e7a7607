"""A sale of each gateway whose tax, shipping, discount and net cannot be read is booked by what was paid."""

import pytest

from tests.support.gateways.figures import FIGURES, MISSING, resend_sale
from tests.support.gateways.stage import Purchase
from tests.support.gateways.stages import all_gateways

_WRONG = {
    "negative": ("-1.74", "-174"),
    "over-precise": ("1.2345678", "174.5"),
    "missing": (MISSING, MISSING),
    "garbage": ("x", "9" * 40),
}


@pytest.mark.parametrize("kind", _WRONG)
@all_gateways
def test_unreadable_figures_never_fail_the_sale(shop, kind):
    stage, (major, minor) = shop.stage, _WRONG[kind]
    figures = FIGURES[stage.gateway.name]
    if stage.gateway.name == "paypal":  # without its own amount an order is not compared with what was paid
        figures = tuple(figure for figure in figures if figure.name != "total")
    changes = {figure.path: minor if figure.is_minor else major for figure in figures}
    booked = []
    for basis in ("gross", "net"):
        shop.brand.set(commissionBasis=basis)
        number = str(len(booked) + 1)
        sale = stage.pay(Purchase(cents=10_000, customer=number, email=f"buyer{number}@example.com"))
        shop.hear(*resend_sale(stage, sale, changes))
        booked.append((sale.id, 10_000, 2_000))
    assert sorted(shop.conversions("external_event_id, amount_cents, commission_cents")) == sorted(booked)
    assert {status for (status,) in shop.events("status")} <= {"Processed", "Ignored"}
    assert shop.brand.rows("select count(*) from job where failed_at is not null") == [(0,)]


@pytest.mark.parametrize("stage", ["woocommerce"], indirect=True)
def test_woocommerce_order_and_refund_finer_than_cents_are_rounded(shop):
    sale = shop.stage.pay(Purchase(cents=10_000, currency="EUR"))
    order = shop.stage.orders[int(sale.id)]
    order |= {"total": "108.9049", "total_tax": "18.9049"}
    shop.hear(shop.stage.notify(order))
    order["refunds"] = [{"id": 9_001, "total": "-33.3333"}]
    shop.hear(shop.stage.notify(order))
    assert shop.conversions("amount_cents, refunded_cents") == [(10_890, 3_333)]
    assert {status for (status,) in shop.events("status")} == {"Processed"}


@pytest.mark.parametrize("stage", ["woocommerce"], indirect=True)
def test_unreadable_refund_waits_for_a_person_while_its_sale_is_booked(shop):
    sale = shop.stage.pay(Purchase(cents=10_000))
    order = shop.stage.orders[int(sale.id)]
    order["refunds"] = [{"id": 9_001, "total": "a lot"}, {"id": 9_002, "total": "-40.00"}]
    shop.hear(shop.stage.notify(order))
    assert shop.conversions("amount_cents, refunded_cents") == [(10_000, 4_000)]
    assert shop.events("status, reason") == [("Parked", "refund_amount_unknown")]


def test_stripe_downgrade_is_a_payment_of_nothing(shop):
    downgrade = resend_sale(shop.stage, shop.stage.pay(Purchase()), {("amount_paid",): 0, ("total",): -5_000})
    shop.hear(*downgrade)
    assert shop.conversions() == []
    assert {status for (status,) in shop.events("status")} == {"Processed"}
    assert shop.brand.rows("select count(*) from job where failed_at is not null") == [(0,)]
