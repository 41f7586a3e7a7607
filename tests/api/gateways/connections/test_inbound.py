"""Requests to a connection's address: verified, stored once and answered, or refused."""

import pytest

from tests.support.gateways.gateway_connections import connect_gateway
from tests.support.gateways.stage import Purchase
from tests.support.threads import run_in_threads


@pytest.fixture
def client(shop):
    """Return a client without credentials."""
    return shop.brand.app.test_client()


def test_unsigned_probe_returns_401(shop, client):
    for method in ("GET", "HEAD"):
        response = client.open(shop.path, method=method)
        assert (response.status_code, response.data) == (401, b"")
        assert client.open("/api/gateways/stripe/unknown", method=method).status_code == 404
    assert shop.events() == []


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE"])
def test_other_methods_return_405(shop, client, method):
    assert client.open(shop.path, method=method).status_code == 405


def test_token_under_another_gateways_path_returns_404(shop, client):
    (notification, *_) = shop.stage.pay(Purchase()).notifications
    token = shop.path.rpartition("/")[2]
    wrong_tails = [
        "paddle/" + token,
        "square/" + token,
        f"stripe/{token}x",
        f"stripe/{token[:-1]}",
        "stripe/%00",
        "stripe/ж",
    ]
    for tail in wrong_tails:
        response = client.post(f"/api/gateways/{tail}", data=notification.body, headers=dict(notification.headers))
        assert (response.status_code, response.data) == (404, b""), tail
    assert shop.events() == []


def test_bad_signature_at_another_brands_address_returns_401(shop, rival, drain):
    connection = connect_gateway(rival.person("Owner"), shop.stage)
    (notification, *_) = shop.stage.pay(Purchase()).notifications
    forged = shop.stage.forge_signature(notification)
    rival_path = "/" + connection["webhookUrl"].split("/", 3)[3]
    client = rival.app.test_client()
    assert client.post(rival_path, data=forged.body, headers=dict(forged.headers)).status_code == 401
    assert shop.deliver(notification) == [200]
    drain()
    assert rival.rows("select count(*) from gateway_event") == [(0,)]
    assert len(shop.conversions()) == 1


def test_body_over_a_megabyte_returns_413(shop, client):
    body = b'{"id": "evt_1", "data": "' + b"x" * 1024 * 1024 + b'"}'
    notification = shop.stage.sign_body(body)
    assert client.post(shop.path, data=notification.body, headers=dict(notification.headers)).status_code == 413
    assert shop.events() == []


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"id=in_1&type=invoice.paid",
        b"[" * 100_000,
        b'{"id": "\\u0000", "type": "\\ud800"}',
        b"\xff\x00",
    ],
    ids=["empty", "truncated", "list", "null", "form", "nested", "invalid-characters", "bytes"],
)
def test_signed_malformed_body_is_stored_and_fails_once(shop, drain, body):
    notification = shop.stage.sign_body(body)
    assert shop.deliver(notification, notification) == [200, 200]
    drain()
    assert [status for (status,) in shop.events("status")] == ["Failed"]
    assert shop.conversions() == []


def test_json_sent_as_a_form_is_read_from_its_bytes(shop, client):
    (notification, *_) = shop.stage.pay(Purchase()).notifications
    headers = {**notification.headers, "Content-Type": "application/x-www-form-urlencoded"}
    assert client.post(shop.path, data=notification.body, headers=headers).status_code == 200
    assert shop.events("type") == [("invoice.paid",)]


def test_event_with_long_id_and_type_is_stored(shop, drain):
    notification = shop.stage.sign_body(
        b'{"id": "' + b"e" * 5_000 + b'", "type": "' + b"t" * 5_000 + b'", "data": {"object": {"id": "x"}}}'
    )
    assert shop.deliver(notification, notification) == [200, 200]
    drain()
    (event,) = shop.brand.get(f"/api/v1/connections/{shop.connection['id']}/events").json["items"]
    assert event["status"] == "Ignored"


def test_concurrent_deliveries_store_one_event(shop, drain):
    (notification, *_) = shop.stage.pay(Purchase()).notifications
    statuses = []
    run_in_threads(10, lambda _: statuses.extend(shop.deliver(notification)))
    assert statuses == [200] * 10
    drain()
    assert shop.events("status") == [("Processed",)]
    assert len(shop.conversions()) == 1
