"""Requests that a gateway's address refuses: badly signed, too old, too large, malformed, or after disconnection."""

from tests.support.gateways.stage import Notification, Purchase
from tests.support.gateways.stages import all_gateways, gateways_with

_MEGABYTE = 1024 * 1024
_MALFORMED_BODIES = [
    b"",
    b"{",
    b"[]",
    b"null",
    b'"x"',
    b"\xff\x00",
    b'{"id": "\\u0000", "type": "\\ud800"}',
    b'{"a":' * 50_000 + b"1" + b"}" * 50_000,
    b"[" * 100_000,
    b"a[b]" * 20_000 + b"=1",
    b"id=in_1&sale_id=SALE1&type=invoice.paid&amount_paid=10000",
    b'{"id": "tr_1", "sale_id": "SALE1", "event": "order.success", "order_id": "1", "price": 10000}',
]


@gateways_with("proof")
def test_signature_of_other_bytes_returns_401_and_stores_nothing(shop, drain):
    drain("gateways")  # jobs left by connecting
    sale = shop.stage.pay(Purchase())
    notifications = [*sale.notifications, *shop.stage.refund(sale, 4_000)]
    assert set(shop.deliver(*map(shop.stage.forge_signature, notifications))) == {401}
    assert (shop.events(), drain("gateways")) == ([], 0)


@gateways_with("time")
def test_old_signature_returns_401_and_stores_nothing(shop):
    sale = shop.stage.pay(Purchase())
    assert set(shop.deliver(*map(shop.stage.sign_in_the_past, sale.notifications))) == {401}
    assert shop.events() == []


@all_gateways
def test_one_megabyte_is_accepted_and_one_byte_more_returns_413(shop):
    (notification, *_) = shop.stage.pay(Purchase()).notifications
    max_size, too_large = (
        Notification(notification.body.ljust(size), notification.headers, notification.method, notification.query)
        for size in (_MEGABYTE, _MEGABYTE + 1)
    )
    assert shop.deliver(too_large) == [413]
    assert shop.events() == []
    assert shop.deliver(max_size)[0] in (200, 401)


@all_gateways
def test_malformed_body_is_refused_or_fails_once_without_booking_money(shop, drain):
    headers = shop.stage.pay(Purchase()).notifications[0].headers
    notifications = [
        Notification(body, content_headers)
        for body in _MALFORMED_BODIES
        for content_headers in (headers, {"Content-Type": "text/plain"})
    ]
    if "any_body" not in shop.stage.unsupported:
        notifications += [shop.stage.sign_body(body) for body in _MALFORMED_BODIES]
    assert set(shop.deliver(*notifications)) <= {200, 401}
    drain()
    assert {status for (status,) in shop.events("status")} <= {"Failed", "Ignored"}
    assert shop.conversions() == []
    assert shop.brand.rows("select from gateway_payment") == []


@all_gateways
def test_event_for_removed_connection_returns_404_and_stores_nothing(shop):
    sale = shop.stage.pay(Purchase())
    notifications = [*sale.notifications, *shop.stage.refund(sale, 4_000)]
    path = f"/api/v1/connections/{shop.connection['id']}"
    assert shop.brand.person("Owner").call("DELETE", path).status_code == 204
    assert set(shop.deliver(*notifications)) == {404}
    assert shop.events() == []
