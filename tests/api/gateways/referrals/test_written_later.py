"""A referral that is written on a subscription or a customer after the checkout credits their uncredited payments."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.api.gateways.referrals.later_writes import WRITTEN_LATER, stripe_subscription, stripe_update
from tests.support.gateways.card.paypal import sign as signed_by_paypal
from tests.support.gateways.stage import Notification, Purchase
from tests.support.job_queues import drain

_METHODS = {
    "stripe": "metadata_or_customer",
    "paddle": "paddle_custom_data",
    "chargebee": "chargebee_custom_field",
    "recurly": "recurly_custom_field",
    "paypal": "paypal_custom_field",
    "maxio": "maxio_metadata",
}
later = pytest.mark.parametrize(
    ("stage", "write"),
    [pytest.param(name, write, id=case) for case, (name, write) in WRITTEN_LATER.items()],
    indirect=["stage"],
)
_BUYER = {"customer": "1", "email": "ann@example.com"}


@pytest.fixture
def longstanding(shop):
    """Return a shop whose gateway was connected two years ago."""
    shop.change("update gateway_connection set connected_at = connected_at - interval '2 years'")
    return shop


def _sign(shop, *sent: Notification) -> tuple[Notification, ...]:
    """Return requests with the proof of the webhook that was made when the gateway was connected."""
    if shop.stage.gateway.name != "paypal":
        return sent
    return tuple(signed_by_paypal(request.body, shop.stage.webhook) for request in sent)


def _pay(shop, **purchase) -> tuple[Purchase, str]:
    """Pay for a subscription without naming an affiliate; return the purchase and the sale's id."""
    bought = Purchase(cents=10_000, slug=None, **{**_BUYER, **purchase})
    if shop.stage.gateway.name == "paypal":  # a first purchase there is an order's
        bought = Purchase(cents=10_000, slug=None, renews=shop.stage.pay(bought), **{**_BUYER, **purchase})
    sale = shop.stage.pay(bought)
    shop.hear(*_sign(shop, *sale.notifications))
    return bought, sale.id


def _hear_or_list(shop, *sent: Notification) -> None:
    if sent:
        shop.hear(*_sign(shop, *sent))
        return
    path = f"/api/v1/connections/{shop.connection['id']}/reconcile"
    since = (datetime.now(UTC) - timedelta(hours=1)).isoformat()
    assert shop.brand.person("Owner").post(path, {"since": since}).status_code == 202
    drain()


@later
def test_referral_written_later_credits_the_payment_once(shop, write):
    bought, sale_id = _pay(shop)
    assert shop.conversions() == []
    shop.wait()
    sent = write(shop.stage, bought, "jane")
    for _ in range(2):
        _hear_or_list(shop, *sent)
    method = _METHODS[shop.stage.gateway.name]
    assert shop.conversions("external_event_id, amount_cents, attribution_method") == [(sale_id, 10_000, method)]
    assert {status for (status,) in shop.events("status")} == {"Processed"}


@later
def test_referral_written_before_the_payment_is_read_credits_it(shop, write):
    bought = Purchase(cents=10_000, slug=None, **_BUYER)
    if shop.stage.gateway.name == "paypal":
        bought = Purchase(cents=10_000, slug=None, renews=shop.stage.pay(bought), **_BUYER)
    sale = shop.stage.pay(bought)
    _hear_or_list(shop, *write(shop.stage, bought, "jane"))
    shop.hear(*_sign(shop, *sale.notifications))
    assert shop.conversions("external_event_id") == [(sale.id,)]


@later
def test_referral_that_leads_nowhere_credits_nobody(shop, write):
    bought, _ = _pay(shop)
    _hear_or_list(shop, *write(shop.stage, bought, "nobody-here"))
    assert shop.conversions() == []
    assert {status for (status,) in shop.events("status")} == {"Processed"}


@pytest.mark.parametrize(
    ("window", "days", "is_credited"), [(30, 29, True), (30, 31, False), (5, 6, False), (60, 31, True)]
)
def test_referral_counts_for_the_campaigns_cookie_window(longstanding, window, days, is_credited):
    shop, now = longstanding, longstanding.stage.now
    shop.change("update program set cookie_window_days = %s", window)
    shop.stage.now = now - timedelta(days=days)
    bought, sale_id = _pay(shop)
    shop.stage.now = now
    shop.hear(*stripe_subscription(shop.stage, bought, "jane"))
    assert [external_id for (external_id,) in shop.conversions("external_event_id")] == [sale_id] * is_credited


def test_window_is_that_of_the_credited_campaign(longstanding):
    shop, now = longstanding, longstanding.stage.now
    shop.change("update program set cookie_window_days = 5")
    other = shop.brand.program(default_commission_type="Percentage", default_commission_value=10)
    rob = shop.brand.affiliate("rob", program_id=other)
    shop.change("update program set cookie_window_days = 60 where id = %s", other)
    shop.stage.now = now - timedelta(days=20)
    for customer in ("1", "2"):
        _pay(shop, customer=customer, email=f"buyer{customer}@example.com")
    shop.stage.now = now
    for customer, slug in (("1", "jane"), ("2", "rob")):
        shop.hear(*stripe_subscription(shop.stage, Purchase(customer=customer), slug))
    assert shop.conversions("affiliate_id") == [(rob,)]


def test_payment_beyond_the_window_stays_uncredited_when_it_is_reported_again(longstanding):
    shop, now = longstanding, longstanding.stage.now
    shop.stage.now = now - timedelta(days=40)
    sale = shop.stage.pay(Purchase(cents=10_000, slug=None, **_BUYER))
    shop.stage.now = now
    shop.hear(*stripe_subscription(shop.stage, sale.purchase, "jane"))
    shop.hear(*sale.notifications)
    assert shop.conversions() == []
    assert shop.events()[-2:] == [
        ("invoice.paid", "Processed", "nobody_referred"),
        ("invoice_payment.paid", "Processed", None),
    ]


def test_renewals_after_the_referral_are_credited(longstanding):
    shop, now = longstanding, longstanding.stage.now
    shop.stage.now = now - timedelta(days=300)
    shop.hear(*stripe_subscription(shop.stage, Purchase(customer="1"), "jane"))
    shop.stage.now = now
    _, sale_id = _pay(shop)
    assert shop.conversions("external_event_id") == [(sale_id,)]


@pytest.mark.parametrize("metadata", [{"plan": "new"}, {"affiliate_slug": "nobody-here"}], ids=repr)
@pytest.mark.parametrize("previous", [{"status": "trialing"}, {"metadata": {"plan": "old"}}, None], ids=repr)
def test_update_that_names_nobody_keeps_what_was_said_before(shop, previous, metadata):
    session = {"id": "cs_1", "object": "checkout.session", "mode": "subscription", "payment_status": "paid"}
    session |= {"client_reference_id": "jane", "customer": "cus_1", "subscription": "sub_1", "livemode": True}
    shop.hear(shop.event("checkout.session.completed", session))
    shop.wait()
    subscription = {"id": "sub_1", "object": "subscription", "status": "active", "customer": "cus_1"}
    subscription["metadata"] = metadata
    shop.hear(stripe_update(shop.stage, "customer.subscription.updated", subscription, previous))
    _pay(shop)
    assert shop.conversions("attribution_method") == [("stripe_reference_id",)]


def test_update_of_something_else_is_ignored(shop):
    shop.hear(*stripe_subscription(shop.stage, Purchase(), "jane", status="trialing"))
    assert shop.events("status, reason") == [("Ignored", "metadata_unchanged")]


@pytest.mark.parametrize(
    ("stage", "write"),
    [
        pytest.param(name, write, id=case)
        for case, (name, write) in WRITTEN_LATER.items()
        if name not in ("recurly", "paypal")  # their lists have money alone
    ],
    indirect=["stage"],
)
def test_every_change_that_was_not_delivered_is_listed(shop, write):
    bought, sale_id = _pay(shop)
    for slug in ("nobody-here", "jane"):
        shop.wait()
        write(shop.stage, bought, slug)
        _hear_or_list(shop)
    assert shop.conversions("external_event_id") == [(sale_id,)]
