"""Payments from before a gateway was connected earn nothing: a signed sale may have counted them."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from tests.support.gateways.gateway_connections import connect_gateway
from tests.support.gateways.stage import Purchase
from tests.support.gateways.storefront import wix


def _reconcile(shop, since, connection=None):
    """Request a reconciliation since a time."""
    path = f"/api/v1/connections/{(connection or shop.connection)['id']}/reconcile"
    assert shop.brand.person("Owner").post(path, {"since": since.isoformat()}).status_code == 202


def _place_two_days_earlier(stage, sale):
    """Set an order's date to two days before its payment; return the notification of the payment."""
    earlier, now = ((stage.now - timedelta(days=days)).isoformat(timespec="seconds") for days in (2, 0))
    if stage.gateway.name == "bigcommerce":
        stage.objects[f"/v2/orders/{sale.id}"]["date_created"] = format_datetime(stage.now - timedelta(days=2))
        notification = stage.notify_status_change(int(sale.id), before=7)
        (token,) = {hook["headers"]["X-Hook-Token"] for hook in stage.hooks.values() if "headers" in hook}
        return replace(notification, headers={**notification.headers, "X-Hook-Token": token})
    order = stage.orders[sale.id]
    if stage.gateway.name == "wix":
        order |= {"createdDate": earlier, "purchasedDate": earlier}
        return stage.notify(wix.PAID, {"previousPaymentStatus": "PENDING_MERCHANT", "order": order})
    order |= {"created_at": earlier, "processed_at": earlier, "updated_at": now}
    return stage.notify("orders/paid", order)


def test_payment_before_the_connection_is_stored_uncredited(shop):
    shop.stage.now -= timedelta(minutes=30)
    sale = shop.stage.pay(Purchase(cents=10_000))
    shop.stage.now += timedelta(hours=1)
    shop.receive(*sale.notifications, *shop.stage.refund(sale, 4_000))
    assert shop.conversions() == []
    assert [event[1:] for event in shop.events() if event[0] != "invoice_payment.paid"] == [
        ("Processed", "before_connection")
    ] * 2
    assert shop.brand.rows("select reason, refunded_cents from gateway_payment") == [("before_connection", 4_000)]
    assert shop.brand.get("/api/v1/uncredited-conversions").json == []


def test_first_reconcile_books_nothing_of_the_hour_before_the_connection(shop, drain):
    shop.stage.now -= timedelta(minutes=30)
    shop.stage.pay(Purchase(cents=10_000))
    shop.brand.person("Owner").post(f"/api/v1/connections/{shop.connection['id']}/reconcile", {})
    drain()
    assert shop.conversions() == []
    assert ("before_connection",) in shop.events("reason")


def test_reconcile_since_before_the_connection_books_nothing(shop, drain):
    shop.stage.now -= timedelta(days=20)
    shop.stage.pay(Purchase(cents=10_000))
    _reconcile(shop, datetime.now(UTC) - timedelta(days=25))
    drain()
    assert shop.conversions() == []


def test_renewal_after_the_connection_of_an_older_customer_counts(shop):
    shop.stage.now -= timedelta(days=20)
    first = shop.stage.pay(Purchase())
    shop.receive(*first.notifications)
    shop.stage.now += timedelta(days=20)
    renewal = shop.stage.pay(Purchase(renews=first))
    shop.receive(*renewal.notifications)
    assert shop.conversions("external_event_id") == [(renewal.id,)]


def test_missed_payment_of_earlier_connection_counts_and_one_between_does_not(shop, drain):
    owner = shop.brand.person("Owner")
    assert owner.call("DELETE", f"/api/v1/connections/{shop.connection['id']}").status_code == 204
    shop.change(
        "update gateway_connection set connected_at = connected_at - interval '2 hours',"
        " disconnected_at = disconnected_at - interval '1 hour'"
    )
    new_connection = connect_gateway(owner, shop.stage)
    shop.stage.now -= timedelta(minutes=90)
    missed_sale = shop.stage.pay(Purchase(cents=10_000))
    shop.stage.now += timedelta(minutes=60)
    shop.stage.pay(Purchase(cents=10_000, customer="2", email="bob@example.com"))
    _reconcile(shop, shop.stage.now - timedelta(days=1), new_connection)
    drain()
    assert shop.conversions("external_event_id") == [(missed_sale.id,)]


@pytest.mark.parametrize("stage", ["woocommerce", "bigcommerce", "wix", "shopify"], indirect=True)
def test_order_paid_before_the_connection_and_changed_later_is_no_sale(shop, drain):
    shop.stage.now -= timedelta(hours=3)
    sale = shop.stage.pay(Purchase(cents=10_000))
    shop.stage.now += timedelta(hours=3)
    shop.stage.refund(sale, 4_000)
    _reconcile(shop, shop.stage.now - timedelta(hours=1))
    drain()
    assert shop.conversions() == []


@pytest.mark.parametrize("stage", ["bigcommerce", "wix", "shopify"], indirect=True)
def test_order_placed_before_and_paid_after_the_connection_is_a_sale(shop):
    """For example by bank transfer: no signed sale reports it before, and afterwards it would be refused."""
    sale = shop.stage.pay(Purchase(cents=10_000))
    shop.change("update gateway_connection set connected_at = connected_at - interval '5 minutes'")
    shop.receive(_place_two_days_earlier(shop.stage, sale))
    assert shop.conversions("external_event_id") == [(sale.id,)]


@pytest.mark.parametrize("stage", ["bigcommerce", "wix", "shopify"], indirect=True)
def test_order_placed_long_before_a_run_and_paid_since_is_listed(shop, drain):
    shop.change("update gateway_connection set connected_at = connected_at - interval '9 days'")
    sale = shop.stage.pay(Purchase(cents=10_000))
    _place_two_days_earlier(shop.stage, sale)
    _reconcile(shop, shop.stage.now - timedelta(hours=1))
    drain()
    assert shop.conversions("external_event_id") == [(sale.id,)]
