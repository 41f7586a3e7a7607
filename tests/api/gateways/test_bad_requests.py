"""What may come to the address of any gateway: unproved, too late, too large, no event at all, after the end."""

from tests.support.gateways.stage import Notification, Purchase
from tests.support.gateways.stages import all_gateways, gateways_with

_MEGABYTE = 1024 * 1024
_NO_EVENTS = [
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
def test_a_proof_over_other_bytes_is_401_and_keeps_nothing(shop, drain):
    drain("gateways")  # what connecting left to do
    sale = shop.stage.pay(Purchase())
    sent = [*sale.notifications, *shop.stage.refund(sale, 4_000)]
    assert set(shop.deliver(*(shop.stage.forge_signature(one) for one in sent))) == {401}
    assert (shop.events(), drain("gateways")) == ([], 0)


@gateways_with("time")
def test_a_proof_of_long_ago_is_401_and_keeps_nothing(shop):
    sale = shop.stage.pay(Purchase())
    assert set(shop.deliver(*(shop.stage.sign_in_the_past(sent) for sent in sale.notifications))) == {401}
    assert shop.events() == []


@all_gateways
def test_a_megabyte_is_let_in_and_one_byte_more_is_413(shop):
    (sent, *_) = shop.stage.pay(Purchase()).notifications
    whole, more = (
        Notification(sent.body.ljust(size), sent.headers, sent.method, sent.query)
        for size in (_MEGABYTE, _MEGABYTE + 1)
    )
    assert shop.deliver(more) == [413]
    assert shop.events() == []
    assert shop.deliver(whole)[0] in (200, 401)


@all_gateways
def test_what_is_no_event_is_refused_or_fails_once_and_is_never_money(shop, drain):
    headers = shop.stage.pay(Purchase()).notifications[0].headers
    sent = [Notification(body, one) for body in _NO_EVENTS for one in (headers, {"Content-Type": "text/plain"})]
    if "any_body" not in shop.stage.unsupported:
        sent += [shop.stage.sign_body(body) for body in _NO_EVENTS]
    assert set(shop.deliver(*sent)) <= {200, 401}
    drain()
    assert {status for (status,) in shop.events("status")} <= {"Failed", "Ignored"}
    assert shop.conversions() == []
    assert shop.brand.rows("select from gateway_payment") == []


@all_gateways
def test_what_comes_for_a_connection_that_was_removed_is_404_and_keeps_nothing(shop):
    sale = shop.stage.pay(Purchase())
    sent = [*sale.notifications, *shop.stage.refund(sale, 4_000)]
    path = f"/api/v1/connections/{shop.connection['id']}"
    assert shop.brand.person("Owner").call("DELETE", path).status_code == 204
    assert set(shop.deliver(*sent)) == {404}
    assert shop.events() == []
