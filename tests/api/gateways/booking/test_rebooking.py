"""Uncredited payments are booked again once an earlier payment of their customer is credited."""

from datetime import timedelta

import pytest

from tests.support.gateways.stage import Purchase


@pytest.fixture
def undelivered_payments(shop):
    """Return a first payment that names jane and two renewals without a slug, seconds apart, none delivered."""
    first = shop.stage.pay(Purchase(cents=10_000))
    renewals = []
    for _ in range(2):
        shop.stage.now += timedelta(seconds=20)  # a time more than a minute ahead would be replaced
        renewals.append(shop.stage.pay(Purchase(cents=10_000, slug=None, renews=first)))
    return [first, *renewals]


@pytest.mark.parametrize("order", [(1, 2, 0), (2, 1, 0), (2, 0, 1)])
def test_renewals_delivered_before_the_first_payment_are_credited_by_it(shop, undelivered_payments, order):
    for index in order:
        shop.receive(*undelivered_payments[index].notifications)
    first, *renewals = (sale.id for sale in undelivered_payments)
    assert shop.conversions("external_event_id, attribution_method") == [
        (first, "metadata_or_customer"),
        *((renewal, "stripe_customer_history") for renewal in renewals),
    ]
    assert sorted(type_ for (type_,) in shop.conversions("type")) == ["OneTime", "Recurring", "Recurring"]
    assert {(status, reason) for _, status, reason in shop.events()} == {("Processed", None)}


def test_refund_of_uncredited_renewal_applies_once_it_is_credited(shop, undelivered_payments):
    first, renewal, _ = undelivered_payments
    shop.receive(*renewal.notifications, *shop.stage.refund(renewal, 4_000))
    shop.receive(*first.notifications)
    assert shop.conversions("external_event_id, refunded_cents, reversed_cents") == [
        (first.id, 0, 0),
        (renewal.id, 4_000, 800),
    ]


def test_payment_with_only_the_email_in_common_is_credited_too(shop):
    first = shop.stage.pay(Purchase())
    shop.stage.now += timedelta(seconds=30)
    second = shop.stage.pay(Purchase(slug=None, customer="2", email="Ann+shop@Example.com"))
    shop.receive(*second.notifications)
    shop.receive(*first.notifications)
    assert shop.conversions("attribution_method")[1:] == [("stripe_customer_history",)]


def test_later_payment_does_not_credit_an_earlier_one(shop):
    first = shop.stage.pay(Purchase(slug=None))
    shop.stage.now += timedelta(seconds=30)
    renewal = shop.stage.pay(Purchase(renews=first))
    shop.receive(*renewal.notifications, *first.notifications)
    assert shop.conversions("external_event_id") == [(renewal.id,)]
    assert [reason for type_, _, reason in shop.events() if type_ == "invoice.paid"] == [None, "nobody_referred"]


def test_uncredited_first_payment_leaves_renewals_unchanged(shop, undelivered_payments):
    shop.change("update affiliate set status = 'Paused'")
    first, renewal, _ = undelivered_payments
    shop.receive(*renewal.notifications, *first.notifications)
    assert shop.conversions() == []
    assert [reason for type_, _, reason in shop.events() if type_ == "invoice.paid"] == [
        "nobody_referred",
        "affiliate_not_active",
    ]


def test_payment_is_credited_once_its_buyers_earlier_checkout_arrives(shop):
    guest = {"object": "checkout.session", "mode": "payment", "livemode": True, "payment_status": "paid"}
    guest |= {"customer_details": {"email": "guest@x.test", "name": "Guest"}}
    referred_checkout = shop.build_stripe_event(
        "checkout.session.completed", guest | {"id": "cs_1", "client_reference_id": "jane"}
    )
    shop.advance_clock()
    payment = guest | {"id": "cs_2", "payment_intent": "pi_guest", "amount_total": 7_000, "currency": "usd"}

    shop.receive(shop.build_stripe_event("checkout.session.completed", payment))
    assert shop.conversions("amount_cents") == []
    shop.receive(referred_checkout)

    assert shop.conversions("amount_cents, attribution_method, type")[:1] == [(7_000, "email_lead_match", "OneTime")]
    assert {(status, reason) for _, status, reason in shop.events()} == {("Processed", None)}
