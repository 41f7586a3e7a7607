"""What comes to a connection's address: proved, kept once, answered; and everything else that may come."""

import pytest

from tests.support.gateways.gateway_connections import connect_gateway
from tests.support.gateways.stage import Purchase
from tests.support.threads import run_in_threads


@pytest.fixture
def client(shop):
    """Anybody."""
    return shop.brand.app.test_client()


def test_a_probe_proves_nothing(shop, client):
    for method in ("GET", "HEAD"):
        answer = client.open(shop.path, method=method)
        assert (answer.status_code, answer.data) == (401, b"")
        assert client.open("/api/gateways/stripe/nobody", method=method).status_code == 404
    assert shop.events() == []


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE"])
def test_other_methods_are_not_taken(shop, client, method):
    assert client.open(shop.path, method=method).status_code == 405


def test_an_address_is_good_for_its_gateway_alone(shop, client):
    (sent, *_) = shop.stage.pay(Purchase()).notifications
    token = shop.path.rpartition("/")[2]
    wrong = ["paddle/" + token, "square/" + token, f"stripe/{token}x", f"stripe/{token[:-1]}", "stripe/%00", "stripe/ж"]
    for tail in wrong:
        answer = client.post(f"/api/gateways/{tail}", data=sent.body, headers=dict(sent.headers))
        assert (answer.status_code, answer.data) == (404, b""), tail
    assert shop.events() == []


def test_what_proves_well_for_one_brand_proves_nothing_at_anothers_address(shop, rival, drain):
    made = connect_gateway(rival.person("Owner"), shop.stage)
    (sent, *_) = shop.stage.pay(Purchase()).notifications
    forged = shop.stage.forge_signature(sent)
    theirs = "/" + made["webhookUrl"].split("/", 3)[3]
    client = rival.app.test_client()
    assert client.post(theirs, data=forged.body, headers=dict(forged.headers)).status_code == 401
    assert shop.deliver(sent) == [200]
    drain()
    assert rival.rows("select count(*) from gateway_event") == [(0,)]
    assert len(shop.conversions()) == 1


def test_a_body_of_more_than_a_megabyte_is_refused_before_it_is_proved(shop, client):
    body = b'{"id": "evt_1", "data": "' + b"x" * 1024 * 1024 + b'"}'
    sent = shop.stage.sign_body(body)
    assert client.post(shop.path, data=sent.body, headers=dict(sent.headers)).status_code == 413
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
    ids=["empty", "half", "list", "null", "form", "deep", "characters", "bytes"],
)
def test_what_is_no_event_though_it_is_proved_is_kept_and_fails_once(shop, drain, body):
    sent = shop.stage.sign_body(body)
    assert shop.deliver(sent, sent) == [200, 200]
    drain()
    assert [status for (status,) in shop.events("status")] == ["Failed"]
    assert shop.conversions() == []


def test_a_form_where_json_is_expected_is_read_as_its_bytes(shop, client):
    (sent, *_) = shop.stage.pay(Purchase()).notifications
    headers = {**sent.headers, "Content-Type": "application/x-www-form-urlencoded"}
    assert client.post(shop.path, data=sent.body, headers=headers).status_code == 200
    assert shop.events("type") == [("invoice.paid",)]


def test_ids_of_any_length_are_kept(shop, drain):
    sent = shop.stage.sign_body(
        b'{"id": "' + b"e" * 5_000 + b'", "type": "' + b"t" * 5_000 + b'", "data": {"object": {"id": "x"}}}'
    )
    assert shop.deliver(sent, sent) == [200, 200]
    drain()
    (listed,) = shop.brand.get(f"/api/v1/connections/{shop.connection['id']}/events").json["items"]
    assert listed["status"] == "Ignored"


def test_ten_deliveries_at_once_are_one_event(shop, drain):
    (sent, *_) = shop.stage.pay(Purchase()).notifications
    statuses = []
    run_in_threads(10, lambda _: statuses.extend(shop.deliver(sent)))
    assert statuses == [200] * 10
    drain()
    assert shop.events("status") == [("Processed",)]
    assert len(shop.conversions()) == 1
