"""Refunds: added up, once each, by whichever id names the payment, also before it comes."""

import dataclasses

import pytest

from tests.support.gateways.stage import Purchase

_MONEY = "refunded_cents, reversed_cents, status"


def test_refunds_are_added_up_and_the_completing_one_ends_the_conversion(shop, drain):
    sale = shop.stage.pay(Purchase(cents=10_890))
    shop.deliver(*sale.notifications, *shop.stage.refund(sale, 4_356))
    drain()
    assert shop.conversions("refunded_cents, reversed_cents, status") == [(4_356, 871, "Pending")]

    last = shop.stage.refund(sale, 6_534)
    shop.deliver(*last, *last)
    drain()
    assert shop.conversions("refunded_cents, reversed_cents, status") == [(10_890, 2_178, "Refunded")]


def test_a_refund_that_comes_before_its_sale_waits_for_it(shop, drain):
    sale = shop.stage.pay(Purchase(cents=10_890))
    shop.deliver(*shop.stage.refund(sale, 4_356))
    drain()
    assert shop.events() == [("charge.refunded", "Parked", "payment_unknown")]

    shop.deliver(*sale.notifications)
    drain()
    assert shop.conversions("refunded_cents, reversed_cents, status") == [(4_356, 871, "Pending")]
    assert [status for (status,) in shop.events("status")] == ["Processed"] * 3


def test_a_refund_is_known_by_every_id_of_its_payment(shop):
    sale = shop.sell(cents=10_000)
    (refund,) = shop.stage.refund(sale, 4_000)
    shop.hear(shop.changed(refund, payment_intent=None, invoice=sale.id))
    assert shop.conversions(_MONEY) == [(4_000, 800, "Pending")]
    shop.hear(refund)
    assert shop.conversions(_MONEY) == [(4_000, 800, "Pending")]


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_totals_that_come_in_any_order_end_the_same(shop, order):
    sale = shop.sell(cents=10_000)
    told = [shop.stage.refund(sale, cents) for cents in (1_000, 2_500, 3_333)]
    for place in order:
        shop.hear(*told[place])
    assert shop.conversions(_MONEY) == [(6_833, 1_367, "Pending")]


def test_what_is_refunded_of_a_payment_that_credited_nobody_is_kept(shop):
    sale = shop.sell(cents=10_000, slug=None)
    shop.hear(*shop.stage.refund(sale, 4_000))
    assert shop.brand.rows("select refunded_cents from gateway_payment") == [(4_000,)]
    assert shop.events()[-1] == ("charge.refunded", "Processed", "nobody_referred")


def test_a_refund_in_another_currency_than_its_payment_moves_nothing_and_waits_for_a_person(shop, drain):
    sale = shop.stage.pay(Purchase(cents=10_890, currency="USD"))
    elsewhere = dataclasses.replace(sale, purchase=dataclasses.replace(sale.purchase, currency="JPY"))
    shop.deliver(*sale.notifications, *shop.stage.refund(elsewhere, 4_356))
    drain()

    assert shop.conversions(_MONEY) == [(0, 0, "Pending")]
    assert shop.events()[-1] == ("charge.refunded", "Parked", "refund_currency_differs")
