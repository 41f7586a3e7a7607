"""Changes of a connection: replaced credentials, checks, disconnection; and their audit log entries."""

import json
from uuid import uuid4

import pytest

from tests.support.gateways.card.stripe import TEST_KEY
from tests.support.gateways.gateway_connections import connect_gateway
from tests.support.gateways.stage import Purchase

URL = "/api/v1/connections"


@pytest.fixture
def path(shop):
    """Return the API path of the shop's connection."""
    return f"{URL}/{shop.connection['id']}"


@pytest.fixture
def owner(shop):
    """Return the shop's Owner, signed in at the dashboard."""
    return shop.brand.person("Owner")


def test_other_tenants_connection_returns_404(shop, path, rival):
    unknown_path = f"{URL}/{uuid4()}"
    for method, tail in (
        ("GET", ""),
        ("GET", "/events"),
        ("GET", "/stats"),
        ("PATCH", ""),
        ("DELETE", ""),
        ("POST", "/check"),
        ("POST", "/reconcile"),
        ("POST", f"/events/{uuid4()}/replay"),
    ):
        body = {"credentials": {"apiKey": "x"}} if method == "PATCH" else None
        responses = [rival.person("Owner").call(method, f"{address}{tail}", body) for address in (path, unknown_path)]
        assert [response.status_code for response in responses] == [404, 404], (method, tail)
        assert [response.json["error"] for response in responses] == ["not_found", "not_found"]
    assert rival.get(URL).json["items"] == []
    assert shop.brand.get(path).status_code == 200


@pytest.mark.parametrize("invalid_id", ["x", "%00", "ключ", "0" * 500])
def test_invalid_id_returns_404(shop, owner, invalid_id):
    assert shop.brand.get(f"{URL}/{invalid_id}").status_code == 404
    assert owner.call("DELETE", f"{URL}/{invalid_id}").status_code == 404


def test_replacing_some_credentials_keeps_the_others(shop, owner, path, drain):
    call_count = len(shop.stage.calls)
    response = owner.call("PATCH", path, {"credentials": {"webhookSecret": "whsec_mine"}})
    assert (response.status_code, response.json["status"], response.json["setup"]) == (
        200,
        "Active",
        {"steps": [], "values": []},
    )
    assert len(shop.stage.calls) > call_count
    assert shop.deliver(*shop.stage.pay(Purchase()).notifications) == [200, 200]  # by the former secret, for an hour
    drain()
    assert len(shop.conversions()) == 1

    api_key_response = owner.call("PATCH", path, {"credentials": {"apiKey": shop.stage.credentials["apiKey"]}})
    assert api_key_response.status_code == 200
    assert shop.deliver(*shop.stage.pay(Purchase(customer="2")).notifications) == [200, 200]
    shop.change("update gateway_connection set former_until = now()")
    assert shop.deliver(shop.stage.pay(Purchase(customer="3")).notifications[0]) == [401]


def test_refused_credentials_change_nothing(shop, owner, path):
    connection_before = shop.brand.get(path).json
    response = owner.call("PATCH", path, {"credentials": {"apiKey": "sk_wrong"}})
    assert (response.status_code, response.json["error"]) == (422, "gateway_credentials_refused")
    for credentials in ({}, {"apikey": "x"}, {"apiKey": ""}, {"apiKey": "a\x00"}, {"apiKey": 1}, "x", None):
        assert owner.call("PATCH", path, {"credentials": credentials}).status_code == 400
    assert shop.brand.get(path).json == connection_before
    assert owner.post(f"{path}/check").json["status"] == "Active"


def test_unreachable_gateway_leaves_the_connection_active(shop, owner, path):
    shop.stage.faults.append("fail")
    response = owner.post(f"{path}/check")
    assert (response.status_code, response.json["error"]) == (503, "gateway_unreachable")
    assert (shop.brand.get(path).json["status"], shop.brand.get(path).json["lastError"]) == ("Active", None)


def test_removed_connection_stays_listed_and_its_address_returns_404(shop, owner, path):
    sale = shop.stage.pay(Purchase())
    assert owner.call("DELETE", path).status_code == 204
    assert shop.deliver(*sale.notifications) == [404, 404]
    connection = shop.brand.get(path).json
    assert (connection["status"], connection["disconnectedAt"] is not None) == ("Disconnected", True)
    for method, tail in (("DELETE", ""), ("POST", "/check"), ("POST", "/reconcile")):
        assert owner.call(method, f"{path}{tail}").status_code == 404

    new_connection = connect_gateway(owner, shop.stage)
    assert new_connection["id"] != shop.connection["id"]
    assert new_connection["webhookUrl"] != shop.connection["webhookUrl"]
    assert [item["status"] for item in shop.brand.get(URL).json["items"]] == ["Active", "Disconnected"]


def test_event_received_before_disconnection_is_booked(shop, owner, path, drain):
    sale = shop.stage.pay(Purchase())
    assert set(shop.deliver(*sale.notifications)) == {200}
    assert owner.call("DELETE", path).status_code == 204
    drain()
    assert [row[0] for row in shop.conversions()] == [sale.id]


def test_event_that_needs_a_disconnected_gateway_fails(shop, owner, path, drain):
    assert shop.deliver(*shop.stage.pay(Purchase(slug=None)).notifications[:1]) == [200]
    assert owner.call("DELETE", path).status_code == 204
    drain()
    assert shop.events("status, reason, raw is not null") == [("Failed", "disconnected", True)]


def test_audit_log_has_the_actions_without_secrets_or_address(shop, owner, path):
    owner.call("PATCH", path, {"credentials": dict(shop.stage.credentials)})
    owner.call("DELETE", path)
    entries = shop.brand.rows(
        "select action, before::text, after::text from audit_entry"
        " where action like 'connection.%%' order by created_at"
    )
    assert [action for action, _, _ in entries] == ["connection.created", "connection.changed", "connection.removed"]
    token = shop.connection["webhookUrl"].rpartition("/")[2]
    for secret in [*shop.stage.credentials.values(), *shop.stage.subscription.values(), token, "whsec_"]:
        assert secret not in json.dumps(entries)


def test_billing_state_and_signed_sales_follow_disconnection_at_once(shop, owner, path):
    state = shop.brand.get("/api/billing/state").json
    assert (state["processorConnectLinked"], state["processorConnectedVia"], state["couponsEnabled"]) == (
        True,
        "StripeApp",
        True,
    )
    assert shop.brand.sale(affiliateSlug="jane").json["error"] == "stripe_connect_active"
    owner.call("DELETE", path)
    state = shop.brand.get("/api/billing/state").json
    assert (state["processorConnectLinked"], state["processorConnectedVia"]) == (False, None)
    assert shop.brand.sale(affiliateSlug="jane").status_code == 200


def test_gateway_set_by_the_operator_blocks_signed_sales_on_its_own(shop, owner, path):
    shop.brand.set(gateways="paddle")
    assert shop.brand.sale(affiliateSlug="jane").json["error"] == "paddle_connect_active"
    owner.call("DELETE", path)
    assert shop.brand.sale(affiliateSlug="jane").json["error"] == "paddle_connect_active"


def test_test_connection_does_not_block_signed_sales(brand, stage):
    brand.program()
    brand.affiliate("jane")
    connect_gateway(brand.person("Owner"), stage, mode="test", credentials={"apiKey": TEST_KEY})
    assert brand.sale(affiliateSlug="jane").status_code == 200
    assert brand.get("/api/billing/state").json["processorConnectLinked"] is False


@pytest.mark.parametrize("body", [{"since": "yesterday"}, {"since": 7}, {"since": ""}, {"since": "2026-13-01"}, []])
def test_invalid_since_returns_400(shop, owner, path, body):
    assert owner.post(f"{path}/reconcile", body).status_code == 400


@pytest.mark.parametrize("since", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "2026-01-01T00:00:00+14:00", None])
def test_since_of_any_date_is_accepted(shop, owner, path, drain, since):
    before = shop.brand.rows("select reconciled_to from gateway_connection")
    assert owner.post(f"{path}/reconcile", {"since": since}).status_code == 202
    drain()
    after = shop.brand.rows("select reconciled_to from gateway_connection")
    assert (after == before) == (since is not None and since > "2027")


def test_unknown_status_returns_400_and_unknown_event_404(shop, owner, path):
    assert shop.brand.get(f"{path}/events?status=Lost").status_code == 400
    assert shop.brand.get(f"{path}/events?take=x").status_code == 400
    assert owner.post(f"{path}/events/{uuid4()}/replay").status_code == 404
    assert owner.post(f"{path}/events/x/replay").status_code == 404


def test_replay_of_another_connections_event_returns_404(shop, owner, path):
    shop.deliver(shop.stage.create_unknown_event())
    (event,) = shop.brand.get(f"{path}/events").json["items"]
    owner.call("DELETE", path)
    new_connection = connect_gateway(owner, shop.stage)
    assert owner.post(f"{URL}/{new_connection['id']}/events/{event['id']}/replay").status_code == 404


def test_replay_of_event_without_raw_bytes_returns_409(shop, owner, path, drain):
    shop.deliver(shop.stage.create_unknown_event())
    drain()
    (event,) = shop.brand.get(f"{path}/events").json["items"]
    shop.change("update gateway_event set raw = null")
    response = owner.post(f"{path}/events/{event['id']}/replay")
    assert (response.status_code, response.json["error"]) == (409, "raw_dropped")
