"""Gateways of digital goods, from event to conversion: events repeated, late, or missing."""

import json

import pytest

from tests.support.gateways.digital import lemonsqueezy
from tests.support.gateways.stage import Purchase


def at_gateways(*names):
    """Return the mark that runs a test at each of these gateways."""
    return pytest.mark.parametrize("stage", names, indirect=True)


@at_gateways("gumroad", "lemonsqueezy", "thrivecart")
def test_missed_payment_is_credited_with_reason_history_only(shop, drain):
    first = shop.stage.pay(Purchase(cents=10_000))
    shop.deliver(*first.notifications)
    drain()
    missed = shop.stage.pay(Purchase(cents=5_000, slug="jane"))
    shop.stage.refund(first, 4_000)
    path = f"/api/v1/connections/{shop.connection['id']}/reconcile"
    for _ in range(2):
        assert shop.brand.person("Owner").post(path, {}).status_code == 202
        drain()
    methods = {"lemonsqueezy": "lemonsqueezy_custom_data"}  # its subscription is reported separately
    method = methods.get(name := shop.stage.gateway.name, f"{name}_customer_history")
    assert (missed.id, method) in shop.conversions("external_event_id, attribution_method")
    assert dict(shop.conversions("external_event_id, refunded_cents")) == {first.id: 4_000, missed.id: 0}
    assert ("Processed", "history_only") in shop.events("status, reason")


@at_gateways("lemonsqueezy")
def test_refund_reported_for_order_and_invoice_counts_once(shop, drain):
    sale = shop.stage.pay(Purchase(cents=10_000))
    shop.deliver(*sale.notifications, *shop.stage.refund(sale, 4_000))
    drain()
    invoice = json.loads(sale.notifications[2].body)["data"]
    invoice["attributes"] |= {"refunded_amount": 4_500, "updated_at": "2026-11-22T09:00:00Z"}
    shop.deliver(shop.stage.event("subscription_payment_refunded", invoice, sale.purchase))
    drain()
    assert shop.conversions("external_event_id, refunded_cents") == [(sale.id, 4_500)]


@at_gateways("lemonsqueezy")
def test_trial_is_a_lead_and_free_order_is_not(shop, drain):
    free_order = shop.stage.pay(Purchase(cents=0, customer="6", email="free@example.com"))
    shop.deliver(
        free_order.notifications[0], *shop.stage.start_trial(Purchase(cents=0, customer="7", email="eve@example.com"))
    )
    drain()
    assert shop.brand.rows("select email_normalized from lead") == [("eve@example.com",)]
    assert shop.conversions("amount_cents") == []


@at_gateways("lemonsqueezy")
def test_signature_with_another_secret_returns_401(shop):
    sale = shop.stage.pay(Purchase())
    assert shop.deliver(lemonsqueezy.sign(sale.notifications[0].body)) == [401]  # another secret than the connection's
    assert shop.deliver(*sale.notifications) == [200, 200, 200]


@at_gateways("gumroad")
def test_partial_refund_of_unknown_amount_waits_and_fails_after_7_days(shop, drain):
    sale = shop.stage.pay(Purchase(cents=10_000))
    shop.stage.sales[sale.id]["currency_symbol"] = "€"
    shop.deliver(*sale.notifications, *shop.stage.refund(sale, 4_000))
    drain()
    assert shop.events() == [("sale", "Processed", None), ("refund", "Parked", "refund_amount_unknown")]
    assert shop.conversions("refunded_cents") == [(0,)]

    (parked,) = shop.brand.get(f"/api/v1/connections/{shop.connection['id']}/events?status=Parked").json["items"]
    shop.brand.rows("update gateway_event set received_at = received_at - interval '8 days' returning id")
    replay = f"/api/v1/connections/{shop.connection['id']}/events/{parked['id']}/replay"
    assert shop.brand.person("Owner").post(replay).status_code == 202
    drain()
    assert shop.events("status, reason, error")[1] == (
        "Failed",
        "refund_amount_unknown",
        "its amount could not be determined within 7 days",
    )
    shop.deliver(*shop.stage.refund(sale, 6_000))  # the rest, whose amount is known
    drain()
    assert shop.conversions("refunded_cents, status") == [(10_000, "Refunded")]


@at_gateways("thrivecart")
def test_former_secret_word_is_accepted_and_no_word_is_stored(shop, drain):
    path = f"/api/v1/connections/{shop.connection['id']}"
    response = shop.brand.person("Owner").call("PATCH", path, {"credentials": {"secretWord": "another"}})
    assert response.status_code == 200
    sale = shop.stage.pay(Purchase())
    assert shop.deliver(*sale.notifications, shop.stage.forge_signature(sale.notifications[0])) == [200, 401]
    assert shop.brand.rows("select position('SECRETWORD' in encode(raw, 'escape')) from gateway_event") == [(0,)]
    client = shop.brand.app.test_client()
    statuses = [client.open(shop.path, method=method).status_code for method in ("HEAD", "GET", "POST")]
    assert statuses == [200, 200, 200]
    assert len(shop.events()) == 1
