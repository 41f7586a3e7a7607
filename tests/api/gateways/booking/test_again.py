"""Payments that credited nobody are looked at again once an earlier payment of their customer is credited."""

from datetime import timedelta

import pytest

from tests.support.gateways.stage import Purchase


@pytest.fixture
def told_late(shop):
    """Return a first payment that names jane and two renewals that name nobody, seconds apart, none of them sent."""
    first = shop.stage.pay(Purchase(cents=10_000))
    renewals = []
    for _ in range(2):
        shop.stage.now += timedelta(seconds=20)  # a time more than a minute ahead would not be kept
        renewals.append(shop.stage.pay(Purchase(cents=10_000, slug=None, renews=first)))
    return [first, *renewals]


@pytest.mark.parametrize("order", [(1, 2, 0), (2, 1, 0), (2, 0, 1)])
def test_renewals_that_are_told_before_the_first_payment_are_credited_by_it(shop, told_late, order):
    for place in order:
        shop.hear(*told_late[place].notifications)
    first, *renewals = (sale.id for sale in told_late)
    assert shop.conversions("external_event_id, attribution_method") == [
        (first, "metadata_or_customer"),
        *((renewal, "stripe_customer_history") for renewal in renewals),
    ]
    assert sorted(kind for (kind,) in shop.conversions("type")) == ["OneTime", "Recurring", "Recurring"]
    assert {(status, reason) for _, status, reason in shop.events()} == {("Processed", None)}


def test_a_renewal_that_waited_is_refunded_as_it_was_told(shop, told_late):
    first, renewal, _ = told_late
    shop.hear(*renewal.notifications, *shop.stage.refund(renewal, 4_000))
    shop.hear(*first.notifications)
    assert shop.conversions("external_event_id, refunded_cents, reversed_cents") == [
        (first.id, 0, 0),
        (renewal.id, 4_000, 800),
    ]


def test_a_customer_who_is_known_by_their_email_alone_is_credited_too(shop):
    first = shop.stage.pay(Purchase())
    shop.stage.now += timedelta(seconds=30)
    again = shop.stage.pay(Purchase(slug=None, customer="2", email="Ann+shop@Example.com"))
    shop.hear(*again.notifications)
    shop.hear(*first.notifications)
    assert shop.conversions("attribution_method")[1:] == [("stripe_customer_history",)]


def test_a_later_payment_is_no_history_of_an_earlier_one(shop):
    first = shop.stage.pay(Purchase(slug=None))
    shop.stage.now += timedelta(seconds=30)
    renewal = shop.stage.pay(Purchase(renews=first))
    shop.hear(*renewal.notifications, *first.notifications)
    assert shop.conversions("external_event_id") == [(renewal.id,)]
    assert [reason for kind, _, reason in shop.events() if kind == "invoice.paid"] == [None, "nobody_referred"]


def test_what_earns_nobody_anything_is_no_reason_to_look_again(shop, told_late):
    shop.change("update affiliate set status = 'Paused'")
    first, renewal, _ = told_late
    shop.hear(*renewal.notifications, *first.notifications)
    assert shop.conversions() == []
    assert [reason for kind, _, reason in shop.events() if kind == "invoice.paid"] == [
        "nobody_referred",
        "affiliate_not_active",
    ]


def test_payment_told_before_its_buyers_start_is_credited_once_that_is_known(shop):
    guest = {"object": "checkout.session", "mode": "payment", "livemode": True, "payment_status": "paid"}
    guest |= {"customer_details": {"email": "guest@x.test", "name": "Guest"}}
    started = shop.event("checkout.session.completed", guest | {"id": "cs_1", "client_reference_id": "jane"})
    shop.wait()
    paid = guest | {"id": "cs_2", "payment_intent": "pi_guest", "amount_total": 7_000, "currency": "usd"}

    shop.hear(shop.event("checkout.session.completed", paid))
    assert shop.conversions("amount_cents") == []
    shop.hear(started)

    assert shop.conversions("amount_cents, attribution_method, type")[:1] == [(7_000, "email_lead_match", "OneTime")]
    assert {(status, reason) for _, status, reason in shop.events()} == {("Processed", None)}
