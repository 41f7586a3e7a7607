"""A referral written on a subscription or customer after checkout credits their uncredited payments."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.api.gateways.referrals.late_referrals import LATE_REFERRALS, build_stripe_update, write_stripe_subscription
from tests.support.gateways.card.paypal import sign as sign_as_paypal
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
each_late_referral = pytest.mark.parametrize(
    ("stage", "write"),
    [pytest.param(name, write, id=case) for case, (name, write) in LATE_REFERRALS.items()],
    indirect=["stage"],
)
_BUYER = {"customer": "1", "email": "ann@example.com"}


@pytest.fixture
def two_year_old_shop(shop):
    """Return a shop whose gateway was connected two years ago."""
    shop.change("update gateway_connection set connected_at = connected_at - interval '2 years'")
    return shop


def _sign_for_connection(shop, *notifications: Notification) -> tuple[Notification, ...]:
    """Return notifications signed for the webhook that was created when the gateway was connected."""
    if shop.stage.gateway.name != "paypal":
        return notifications
    return tuple(sign_as_paypal(notification.body, shop.stage.webhook) for notification in notifications)


def _subscribe_unreferred(shop, **fields) -> tuple[Purchase, str]:
    """Pay for a subscription without naming an affiliate; return the purchase and the sale's id."""
    purchase = Purchase(cents=10_000, slug=None, **{**_BUYER, **fields})
    if shop.stage.gateway.name == "paypal":  # PayPal's first purchase belongs to an order
        purchase = Purchase(cents=10_000, slug=None, renews=shop.stage.pay(purchase), **{**_BUYER, **fields})
    sale = shop.stage.pay(purchase)
    shop.receive(*_sign_for_connection(shop, *sale.notifications))
    return purchase, sale.id


def _receive_or_reconcile(shop, *notifications: Notification) -> None:
    if notifications:
        shop.receive(*_sign_for_connection(shop, *notifications))
        return
    path = f"/api/v1/connections/{shop.connection['id']}/reconcile"
    since = (datetime.now(UTC) - timedelta(hours=1)).isoformat()
    assert shop.brand.person("Owner").post(path, {"since": since}).status_code == 202
    drain()


@each_late_referral
def test_late_referral_credits_the_payment_once(shop, write):
    purchase, sale_id = _subscribe_unreferred(shop)
    assert shop.conversions() == []
    shop.advance_clock()
    notifications = write(shop.stage, purchase, "jane")
    for _ in range(2):
        _receive_or_reconcile(shop, *notifications)
    method = _METHODS[shop.stage.gateway.name]
    assert shop.conversions("external_event_id, amount_cents, attribution_method") == [(sale_id, 10_000, method)]
    assert {status for (status,) in shop.events("status")} == {"Processed"}


@each_late_referral
def test_referral_read_before_the_payment_credits_it(shop, write):
    purchase = Purchase(cents=10_000, slug=None, **_BUYER)
    if shop.stage.gateway.name == "paypal":
        purchase = Purchase(cents=10_000, slug=None, renews=shop.stage.pay(purchase), **_BUYER)
    sale = shop.stage.pay(purchase)
    _receive_or_reconcile(shop, *write(shop.stage, purchase, "jane"))
    shop.receive(*_sign_for_connection(shop, *sale.notifications))
    assert shop.conversions("external_event_id") == [(sale.id,)]


@each_late_referral
def test_unknown_slug_credits_no_one(shop, write):
    purchase, _ = _subscribe_unreferred(shop)
    _receive_or_reconcile(shop, *write(shop.stage, purchase, "nobody-here"))
    assert shop.conversions() == []
    assert {status for (status,) in shop.events("status")} == {"Processed"}


@pytest.mark.parametrize(
    ("window", "days", "is_credited"), [(30, 29, True), (30, 31, False), (5, 6, False), (60, 31, True)]
)
def test_late_referral_counts_within_the_campaigns_cookie_window(two_year_old_shop, window, days, is_credited):
    shop, now = two_year_old_shop, two_year_old_shop.stage.now
    shop.change("update program set cookie_window_days = %s", window)
    shop.stage.now = now - timedelta(days=days)
    purchase, sale_id = _subscribe_unreferred(shop)
    shop.stage.now = now
    shop.receive(*write_stripe_subscription(shop.stage, purchase, "jane"))
    assert [external_id for (external_id,) in shop.conversions("external_event_id")] == [sale_id] * is_credited


def test_cookie_window_of_the_credited_campaign_applies(two_year_old_shop):
    shop, now = two_year_old_shop, two_year_old_shop.stage.now
    shop.change("update program set cookie_window_days = 5")
    other = shop.brand.program(default_commission_type="Percentage", default_commission_value=10)
    rob = shop.brand.affiliate("rob", program_id=other)
    shop.change("update program set cookie_window_days = 60 where id = %s", other)
    shop.stage.now = now - timedelta(days=20)
    for customer in ("1", "2"):
        _subscribe_unreferred(shop, customer=customer, email=f"buyer{customer}@example.com")
    shop.stage.now = now
    for customer, slug in (("1", "jane"), ("2", "rob")):
        shop.receive(*write_stripe_subscription(shop.stage, Purchase(customer=customer), slug))
    assert shop.conversions("affiliate_id") == [(rob,)]


def test_payment_outside_the_window_stays_uncredited_when_repeated(two_year_old_shop):
    shop, now = two_year_old_shop, two_year_old_shop.stage.now
    shop.stage.now = now - timedelta(days=40)
    sale = shop.stage.pay(Purchase(cents=10_000, slug=None, **_BUYER))
    shop.stage.now = now
    shop.receive(*write_stripe_subscription(shop.stage, sale.purchase, "jane"))
    shop.receive(*sale.notifications)
    assert shop.conversions() == []
    assert shop.events()[-2:] == [
        ("invoice.paid", "Processed", "nobody_referred"),
        ("invoice_payment.paid", "Processed", None),
    ]


def test_renewals_after_the_referral_are_credited(two_year_old_shop):
    shop, now = two_year_old_shop, two_year_old_shop.stage.now
    shop.stage.now = now - timedelta(days=300)
    shop.receive(*write_stripe_subscription(shop.stage, Purchase(customer="1"), "jane"))
    shop.stage.now = now
    _, sale_id = _subscribe_unreferred(shop)
    assert shop.conversions("external_event_id") == [(sale_id,)]


@pytest.mark.parametrize("metadata", [{"plan": "new"}, {"affiliate_slug": "nobody-here"}], ids=repr)
@pytest.mark.parametrize("previous", [{"status": "trialing"}, {"metadata": {"plan": "old"}}, None], ids=repr)
def test_update_without_known_slug_keeps_the_earlier_referral(shop, previous, metadata):
    session = {"id": "cs_1", "object": "checkout.session", "mode": "subscription", "payment_status": "paid"}
    session |= {"client_reference_id": "jane", "customer": "cus_1", "subscription": "sub_1", "livemode": True}
    shop.receive(shop.build_stripe_event("checkout.session.completed", session))
    shop.advance_clock()
    subscription = {"id": "sub_1", "object": "subscription", "status": "active", "customer": "cus_1"}
    subscription["metadata"] = metadata
    shop.receive(build_stripe_update(shop.stage, "customer.subscription.updated", subscription, previous))
    _subscribe_unreferred(shop)
    assert shop.conversions("attribution_method") == [("stripe_reference_id",)]


def test_update_of_other_fields_is_ignored(shop):
    shop.receive(*write_stripe_subscription(shop.stage, Purchase(), "jane", status="trialing"))
    assert shop.events("status, reason") == [("Ignored", "metadata_unchanged")]


@pytest.mark.parametrize(
    ("stage", "write"),
    [
        pytest.param(name, write, id=case)
        for case, (name, write) in LATE_REFERRALS.items()
        if name not in ("recurly", "paypal")  # their lists hold payments only
    ],
    indirect=["stage"],
)
def test_each_undelivered_change_is_listed(shop, write):
    purchase, sale_id = _subscribe_unreferred(shop)
    for slug in ("nobody-here", "jane"):
        shop.advance_clock()
        write(shop.stage, purchase, slug)
        _receive_or_reconcile(shop)
    assert shop.conversions("external_event_id") == [(sale_id,)]
