"""Uncredited payments are booked again once an earlier payment of their customer is credited."""

from datetime import UTC, datetime, timedelta

import pytest

from domain import jobs
from models import db
from pipelines import work
from tests.api.gateways.conftest import Shop
from tests.api.gateways.referrals.late_referrals import write_stripe_subscription
from tests.support.api.import_requests import build_past_sale, import_sales
from tests.support.gateways.gateway_connections import connect_gateway
from tests.support.gateways.stage import Purchase
from tests.support.job_queues import drain


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


def _deliver_renewals_in_reverse(shop):
    """Deliver eight uncredited renewals, the newest first; return the first payment, undelivered, and the renewals."""
    shop.change("update gateway_connection set connected_at = connected_at - interval '1 day'")
    shop.change("update program set recurring_delay_invoices = 4")
    shop.stage.now -= timedelta(hours=1)
    first = shop.stage.pay(Purchase(cents=10_000))
    renewals = []
    for _ in range(8):
        shop.stage.now += timedelta(seconds=20)
        renewals.append(shop.stage.pay(Purchase(cents=10_000, slug=None, renews=first)))
    for renewal in reversed(renewals):
        shop.receive(*renewal.notifications)
    assert shop.conversions() == []
    return first, renewals


def _list_earned(shop, renewals):
    """Return what the renewals earned, in the order of payment."""
    earned = dict(shop.conversions("external_event_id, commission_cents"))
    return [earned[renewal.id] for renewal in renewals]


def test_waiting_renewals_are_numbered_in_the_order_of_payment_after_the_first(shop):
    first, renewals = _deliver_renewals_in_reverse(shop)
    shop.receive(*first.notifications)
    assert _list_earned(shop, renewals) == [0] * 3 + [2_000] * 5


def test_waiting_renewals_are_numbered_in_the_order_of_payment_after_a_late_referral(shop):
    first, renewals = _deliver_renewals_in_reverse(shop)
    shop.receive(*write_stripe_subscription(shop.stage, first.purchase, "jane"))
    assert _list_earned(shop, renewals) == [0] * 4 + [2_000] * 4
    assert [type_ for (type_,) in shop.conversions("type")] == ["OneTime"] + ["Recurring"] * 7


def test_waiting_renewals_are_numbered_in_the_order_of_payment_after_an_import(brand, stage):
    brand.program(default_commission_type="Percentage", default_commission_value=20)
    brand.affiliate("jane")
    shop = Shop(brand, stage, connect_gateway(brand.person("Owner"), stage))
    _, renewals = _deliver_renewals_in_reverse(shop)
    past_sale = build_past_sale(affiliateSlug="jane", processorCustomerId="cus_1")
    assert import_sales(brand, past_sale).status_code == 200
    drain()
    assert _list_earned(shop, renewals) == [0] * 3 + [2_000] * 5


def test_renewal_is_not_held_up_by_an_earlier_one_that_is_postponed(shop):
    """An earlier payment may wait for its gateway for hours."""
    first, renewals = _deliver_renewals_in_reverse(shop)
    ((event_id,),) = shop.brand.rows("select event_id from gateway_payment where external_id = %s", renewals[0].id)
    shop.change("update gateway_event set status = 'Received' where id = %s", event_id)
    with db.unit_of_work(shop.brand.id):
        later = datetime.now(UTC) + timedelta(hours=1)
        work.enqueue(jobs.GATEWAY_EVENT, organization_id=shop.brand.id, run_at=later, event_id=event_id)
    shop.receive(*first.notifications)
    assert len(shop.conversions()) == len(renewals)


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
