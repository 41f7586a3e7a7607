"""What holds for the money of every gateway, whatever its language: of each, from its events to the books."""

from datetime import UTC, datetime, timedelta

from domain.gateways.facts import UnreadableEvent
from tests.support.gateways.gateway_connections import connect_gateway, switch_to_test_mode
from tests.support.gateways.stage import Purchase
from tests.support.gateways.stages import all_gateways, gateways_with
from tests.support.job_queues import drain

#: The method that is written for what the stage's purchases carry.
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
_PAID = "external_event_id, commission_cents, refunded_cents, attribution_method"


@all_gateways
def test_sales_renewals_and_refunds_are_each_counted_once_in_whatever_order(shop):
    first = shop.stage.pay(Purchase(cents=10_000))
    refund = shop.stage.refund(first, 4_000)
    shop.hear(*refund)
    shop.hear(*first.notifications)
    again = shop.stage.pay(Purchase(renews=first, cents=5_000, slug=None))
    shop.hear(*again.notifications)
    shop.hear(*again.notifications, *refund, *first.notifications)
    name = shop.stage.gateway.name
    # Whose subscription it is was told before, at a gateway that tells it apart.
    method = _METHODS[name] if name == "lemonsqueezy" else f"{name}_customer_history"
    assert sorted(shop.conversions(_PAID)) == sorted(
        [(first.id, 2_000, 4_000, _METHODS[name]), (again.id, 1_000, 0, method)]
    )
    assert {status for (status,) in shop.events("status")} <= {"Processed", "Ignored"}


@all_gateways
def test_what_was_not_told_is_found_and_what_was_told_is_not_counted_again(shop):
    told = shop.sell(cents=10_000)
    missed = shop.stage.pay(Purchase(cents=7_000))
    shop.stage.refund(told, 4_000)
    for _ in range(2):
        _reconcile(shop)
    assert dict(shop.conversions("external_event_id, refunded_cents")) == {told.id: 4_000, missed.id: 0}


@all_gateways
def test_what_cannot_be_read_is_a_dead_letter_with_its_bytes(shop):
    shop.hear(shop.stage.create_malformed_event())
    ((status, reason, raw),) = shop.events("status, reason, raw is not null")
    assert (status, reason, raw) == ("Failed", "unreadable", True)
    ((name, error),) = shop.brand.rows("select name, last_error from job where failed_at is not null")
    assert (name, error.startswith(f"{shop.stage.gateway.name} ")) == ("gateway.event", True)


@all_gateways
def test_what_could_not_be_read_is_booked_once_its_reader_is_mended(shop, monkeypatch):
    sale = shop.stage.pay(Purchase(cents=10_000))
    with monkeypatch.context() as broken:
        broken.setattr(type(shop.stage.gateway), "facts", _cannot_read)
        shop.hear(*sale.notifications)
    assert {status for (status,) in shop.events("status")} == {"Failed"}
    assert shop.conversions() == []

    path = f"/api/v1/connections/{shop.connection['id']}/events"
    for failed in shop.brand.get(f"{path}?status=Failed").json["items"]:
        assert shop.brand.person("Owner").post(f"{path}/{failed['id']}/replay").status_code == 202
    drain()
    assert shop.conversions("external_event_id, amount_cents") == [(sale.id, 10_000)]


def _cannot_read(*_):
    raise UnreadableEvent("a field has moved")


@all_gateways
def test_a_payment_of_nothing_is_never_a_sale(shop):
    shop.hear(*shop.stage.pay(Purchase(cents=0)).notifications)
    assert shop.conversions("amount_cents") == []
    assert {status for (status,) in shop.events("status")} <= {"Processed", "Ignored"}


@gateways_with("dispute_lost")
def test_a_lost_dispute_takes_what_remains(shop):
    sale = shop.sell(cents=10_000)
    shop.hear(*shop.stage.refund(sale, 4_000))
    shop.wait()
    sent = shop.stage.dispute(sale, "lost")
    if sent:
        shop.hear(*sent)
    else:
        _reconcile(shop)
    assert shop.conversions("refunded_cents, status") == [(10_000, "Refunded")]


@gateways_with("uninstall")
def test_access_that_was_taken_back_ends_the_connection_and_keeps_its_sales(shop):
    sale = shop.sell(cents=10_000)
    shop.wait()
    shop.hear(*shop.stage.uninstall())
    record = shop.brand.get(f"/api/v1/connections/{shop.connection['id']}").json
    assert (record["status"], record["disconnectedAt"] is not None) == ("Disconnected", True)
    assert shop.deliver(*shop.stage.pay(Purchase()).notifications[:1]) == [404]
    assert shop.conversions("external_event_id") == [(sale.id,)]


@all_gateways
def test_everything_of_a_test_connection_is_a_rehearsal(brand, shop):
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
