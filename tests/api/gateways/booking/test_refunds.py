"""Refunds: each is added once, by any id of its payment, also before the payment arrives."""

import dataclasses

import pytest

from tests.support.gateways.stage import Purchase

_MONEY = "refunded_cents, reversed_cents, status"


def test_refunds_add_up_until_the_conversion_is_refunded(shop, drain):
    sale = shop.stage.pay(Purchase(cents=10_890))
    shop.deliver(*sale.notifications, *shop.stage.refund(sale, 4_356))
    drain()
    assert shop.conversions("refunded_cents, reversed_cents, status") == [(4_356, 871, "Pending")]

    last = shop.stage.refund(sale, 6_534)
    shop.deliver(*last, *last)
    drain()
    assert shop.conversions("refunded_cents, reversed_cents, status") == [(10_890, 2_178, "Refunded")]


def test_refund_before_its_sale_is_parked_until_it_arrives(shop, drain):
    sale = shop.stage.pay(Purchase(cents=10_890))
    shop.deliver(*shop.stage.refund(sale, 4_356))
    drain()
    assert shop.events() == [("charge.refunded", "Parked", "payment_unknown")]

    shop.deliver(*sale.notifications)
    drain()
    assert shop.conversions("refunded_cents, reversed_cents, status") == [(4_356, 871, "Pending")]
    assert [status for (status,) in shop.events("status")] == ["Processed"] * 3


def test_refund_is_matched_by_any_id_of_its_payment(shop):
    sale = shop.sell(cents=10_000)
    (refund,) = shop.stage.refund(sale, 4_000)
    shop.receive(shop.replace_fields(refund, payment_intent=None, invoice=sale.id))
    assert shop.conversions(_MONEY) == [(4_000, 800, "Pending")]
    shop.receive(refund)
    assert shop.conversions(_MONEY) == [(4_000, 800, "Pending")]


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_refund_totals_in_any_order_end_the_same(shop, order):
    sale = shop.sell(cents=10_000)
    refunds = [shop.stage.refund(sale, cents) for cents in (1_000, 2_500, 3_333)]
    for index in order:
        shop.receive(*refunds[index])
    assert shop.conversions(_MONEY) == [(6_833, 1_367, "Pending")]


def test_refund_of_uncredited_payment_is_stored(shop):
    sale = shop.sell(cents=10_000, slug=None)
    shop.receive(*shop.stage.refund(sale, 4_000))
    assert shop.brand.rows("select refunded_cents from gateway_payment") == [(4_000,)]
    assert shop.events()[-1] == ("charge.refunded", "Processed", "nobody_referred")


def test_refund_in_another_currency_is_parked_and_reverses_nothing(shop, drain):
    sale = shop.stage.pay(Purchase(cents=10_890, currency="USD"))
    sale_in_yen = dataclasses.replace(sale, purchase=dataclasses.replace(sale.purchase, currency="JPY"))
    shop.deliver(*sale.notifications, *shop.stage.refund(sale_in_yen, 4_356))
    drain()

    assert shop.conversions(_MONEY) == [(0, 0, "Pending")]
    assert shop.events()[-1] == ("charge.refunded", "Parked", "refund_currency_differs")
