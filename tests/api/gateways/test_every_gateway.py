"""Rules that hold at every gateway, tested at each from its events to the conversions."""

from datetime import UTC, datetime, timedelta

from domain.gateways.facts import UnreadableEvent
from tests.support.gateways.gateway_connections import connect_gateway, switch_to_test_mode
from tests.support.gateways.stage import Purchase
from tests.support.gateways.stages import all_gateways, gateways_with
from tests.support.job_queues import drain

#: The attribution method by which each gateway's simulated purchases are credited.
_METHODS = {
    "stripe": "metadata_or_customer",
    "braintree": "braintree_custom_field",
    "mollie": "mollie_metadata",
    "paypal": "paypal_custom_field",
    "shopify": "shopify_web_pixel",
    "bigcommerce": "bigcommerce_metadata",
    "wix": "wix_custom_field",
    "woocommerce": "woocommerce_metadata",
    "paddle": "paddle_custom_data",
    "chargebee": "chargebee_custom_field",
    "recurly": "recurly_custom_field",
    "maxio": "maxio_reference_id",
    "gumroad": "gumroad_url_param",
    "lemonsqueezy": "lemonsqueezy_custom_data",
    "thrivecart": "thrivecart_url_param",
}
_COLUMNS = "external_event_id, commission_cents, refunded_cents, attribution_method"


@all_gateways
def test_sales_renewals_and_refunds_count_once_in_any_order(shop):
    first = shop.stage.pay(Purchase(cents=10_000))
    refund = shop.stage.refund(first, 4_000)
    shop.receive(*refund)
    shop.receive(*first.notifications)
    renewal = shop.stage.pay(Purchase(renews=first, cents=5_000, slug=None))
    shop.receive(*renewal.notifications)
    shop.receive(*renewal.notifications, *refund, *first.notifications)
    name = shop.stage.gateway.name
    # Lemon Squeezy reports the subscription's referral separately and earlier.
    method = _METHODS[name] if name == "lemonsqueezy" else f"{name}_customer_history"
    assert sorted(shop.conversions(_COLUMNS)) == sorted(
        [(first.id, 2_000, 4_000, _METHODS[name]), (renewal.id, 1_000, 0, method)]
    )
    assert {status for (status,) in shop.events("status")} <= {"Processed", "Ignored"}


@all_gateways
def test_repeated_reconcile_books_each_missed_payment_once(shop):
    booked_sale = shop.sell(cents=10_000)
    missed_sale = shop.stage.pay(Purchase(cents=7_000))
    shop.stage.refund(booked_sale, 4_000)
    for _ in range(2):
        _reconcile(shop)
    assert dict(shop.conversions("external_event_id, refunded_cents")) == {booked_sale.id: 4_000, missed_sale.id: 0}


@all_gateways
def test_unreadable_event_fails_its_job_and_keeps_its_bytes(shop):
    shop.receive(shop.stage.create_malformed_event())
    ((status, reason, raw),) = shop.events("status, reason, raw is not null")
    assert (status, reason, raw) == ("Failed", "unreadable", True)
    ((name, error),) = shop.brand.rows("select name, last_error from job where failed_at is not null")
    assert (name, error.startswith(f"{shop.stage.gateway.name} ")) == ("gateway.event", True)


@all_gateways
def test_replayed_unreadable_event_is_booked_after_the_parser_is_fixed(shop, monkeypatch):
    sale = shop.stage.pay(Purchase(cents=10_000))
    with monkeypatch.context() as patch:
        patch.setattr(type(shop.stage.gateway), "facts", _raise_unreadable)
        shop.receive(*sale.notifications)
    assert {status for (status,) in shop.events("status")} == {"Failed"}
    assert shop.conversions() == []

    path = f"/api/v1/connections/{shop.connection['id']}/events"
    for failed in shop.brand.get(f"{path}?status=Failed").json["items"]:
        assert shop.brand.person("Owner").post(f"{path}/{failed['id']}/replay").status_code == 202
    drain()
    assert shop.conversions("external_event_id, amount_cents") == [(sale.id, 10_000)]


def _raise_unreadable(*_):
    raise UnreadableEvent("a field has moved")


@all_gateways
def test_zero_payment_is_no_sale(shop):
    shop.receive(*shop.stage.pay(Purchase(cents=0)).notifications)
    assert shop.conversions("amount_cents") == []
    assert {status for (status,) in shop.events("status")} <= {"Processed", "Ignored"}


@gateways_with("dispute_lost")
def test_lost_dispute_reverses_the_remainder(shop):
    sale = shop.sell(cents=10_000)
    shop.receive(*shop.stage.refund(sale, 4_000))
    shop.advance_clock()
    notifications = shop.stage.dispute(sale, "lost")
    if notifications:
        shop.receive(*notifications)
    else:
        _reconcile(shop)
    assert shop.conversions("refunded_cents, status") == [(10_000, "Refunded")]


@gateways_with("uninstall")
def test_revoked_access_disconnects_and_keeps_the_sales(shop):
    sale = shop.sell(cents=10_000)
    shop.advance_clock()
    shop.receive(*shop.stage.uninstall())
    connection = shop.brand.get(f"/api/v1/connections/{shop.connection['id']}").json
    assert (connection["status"], connection["disconnectedAt"] is not None) == ("Disconnected", True)
    assert shop.deliver(*shop.stage.pay(Purchase()).notifications[:1]) == [404]
    assert shop.conversions("external_event_id") == [(sale.id,)]


@all_gateways
def test_conversion_of_test_connection_is_marked_as_test(brand, shop):
    owner = brand.person("Owner")
    assert owner.call("DELETE", f"/api/v1/connections/{shop.connection['id']}").status_code == 204
    switch_to_test_mode(shop.stage)
    shop.connection = connect_gateway(owner, shop.stage)
    shop.sell(cents=10_000)
    assert shop.conversions("amount_cents, is_test") == [(10_000, True)]


def _reconcile(shop):
    path = f"/api/v1/connections/{shop.connection['id']}/reconcile"
    since = (datetime.now(UTC) - timedelta(hours=1)).isoformat()
    assert shop.brand.person("Owner").post(path, {"since": since}).status_code == 202
    drain()
