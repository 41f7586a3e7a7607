"""What is done with a connection: credentials replaced, checked, ended; and what of it the audit log keeps."""

import json
from uuid import uuid4

import pytest

from tests.support.gateways.card.stripe import TEST_KEY
from tests.support.gateways.gateway_connections import connect_gateway
from tests.support.gateways.stage import Purchase

URL = "/api/v1/connections"


@pytest.fixture
def path(shop):
    """Where the shop's connection is."""
    return f"{URL}/{shop.connection['id']}"


@pytest.fixture
def owner(shop):
    """The shop's Owner, at the dashboard."""
    return shop.brand.person("Owner")


def test_somebody_elses_connection_is_not_there(shop, path, rival):
    nobodys = f"{URL}/{uuid4()}"
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
        found = [rival.person("Owner").call(method, f"{address}{tail}", body) for address in (path, nobodys)]
        assert [answer.status_code for answer in found] == [404, 404], (method, tail)
        assert [answer.json["error"] for answer in found] == ["not_found", "not_found"]
    assert rival.get(URL).json["items"] == []
    assert shop.brand.get(path).status_code == 200


@pytest.mark.parametrize("wrong", ["x", "%00", "ключ", "0" * 500])
def test_an_id_that_is_none_is_not_there(shop, owner, wrong):
    assert shop.brand.get(f"{URL}/{wrong}").status_code == 404
    assert owner.call("DELETE", f"{URL}/{wrong}").status_code == 404


def test_some_credentials_are_replaced_and_the_others_stay(shop, owner, path, drain):
    asked = len(shop.stage.calls)
    changed = owner.call("PATCH", path, {"credentials": {"webhookSecret": "whsec_mine"}})
    assert (changed.status_code, changed.json["status"], changed.json["setup"]) == (
        200,
        "Active",
        {"steps": [], "values": []},
    )
    assert len(shop.stage.calls) > asked
    assert shop.deliver(*shop.stage.pay(Purchase()).notifications) == [200, 200]  # by the former secret, for an hour
    drain()
    assert len(shop.conversions()) == 1

    other = owner.call("PATCH", path, {"credentials": {"apiKey": shop.stage.credentials["apiKey"]}})
    assert other.status_code == 200
    assert shop.deliver(*shop.stage.pay(Purchase(customer="2")).notifications) == [200, 200]
    shop.change("update gateway_connection set former_until = now()")
    assert shop.deliver(shop.stage.pay(Purchase(customer="3")).notifications[0]) == [401]


def test_credentials_that_are_refused_change_nothing(shop, owner, path):
    before = shop.brand.get(path).json
    refused = owner.call("PATCH", path, {"credentials": {"apiKey": "sk_wrong"}})
    assert (refused.status_code, refused.json["error"]) == (422, "gateway_credentials_refused")
    for credentials in ({}, {"apikey": "x"}, {"apiKey": ""}, {"apiKey": "a\x00"}, {"apiKey": 1}, "x", None):
        assert owner.call("PATCH", path, {"credentials": credentials}).status_code == 400
    assert shop.brand.get(path).json == before
    assert owner.post(f"{path}/check").json["status"] == "Active"


def test_a_gateway_that_is_away_breaks_nothing(shop, owner, path):
    shop.stage.faults.append("fail")
    away = owner.post(f"{path}/check")
    assert (away.status_code, away.json["error"]) == (503, "gateway_unreachable")
    assert (shop.brand.get(path).json["status"], shop.brand.get(path).json["lastError"]) == ("Active", None)


def test_an_ended_connection_stays_in_the_list_and_its_address_leads_nowhere(shop, owner, path):
    sale = shop.stage.pay(Purchase())
    assert owner.call("DELETE", path).status_code == 204
    assert shop.deliver(*sale.notifications) == [404, 404]
    shown = shop.brand.get(path).json
    assert (shown["status"], shown["disconnectedAt"] is not None) == ("Disconnected", True)
    for method, tail in (("DELETE", ""), ("POST", "/check"), ("POST", "/reconcile")):
        assert owner.call(method, f"{path}{tail}").status_code == 404

    again = connect_gateway(owner, shop.stage)
    assert again["id"] != shop.connection["id"]
    assert again["webhookUrl"] != shop.connection["webhookUrl"]
    assert [one["status"] for one in shop.brand.get(URL).json["items"]] == ["Active", "Disconnected"]


def test_what_came_before_a_connection_ended_is_booked_all_the_same(shop, owner, path, drain):
    sale = shop.stage.pay(Purchase())
    assert set(shop.deliver(*sale.notifications)) == {200}
    assert owner.call("DELETE", path).status_code == 204
    drain()
    assert [row[0] for row in shop.conversions()] == [sale.id]


def test_what_needs_a_gateway_that_was_disconnected_is_a_dead_letter(shop, owner, path, drain):
    assert shop.deliver(*shop.stage.pay(Purchase(slug=None)).notifications[:1]) == [200]
    assert owner.call("DELETE", path).status_code == 204
    drain()
    assert shop.events("status, reason, raw is not null") == [("Failed", "disconnected", True)]


def test_the_audit_log_says_who_did_what_and_neither_secret_nor_address(shop, owner, path):
    owner.call("PATCH", path, {"credentials": dict(shop.stage.credentials)})
    owner.call("DELETE", path)
    kept = shop.brand.rows(
        "select action, before::text, after::text from audit_entry"
        " where action like 'connection.%%' order by created_at"
    )
    assert [action for action, _, _ in kept] == ["connection.created", "connection.changed", "connection.removed"]
    token = shop.connection["webhookUrl"].rpartition("/")[2]
    for secret in [*shop.stage.credentials.values(), *shop.stage.subscription.values(), token, "whsec_"]:
        assert secret not in json.dumps(kept)


def test_the_billing_state_and_signed_sales_follow_at_once(shop, owner, path):
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


def test_the_operators_word_stands_beside_connections(shop, owner, path):
    shop.brand.set(gateways="paddle")
    assert shop.brand.sale(affiliateSlug="jane").json["error"] == "paddle_connect_active"
    owner.call("DELETE", path)
    assert shop.brand.sale(affiliateSlug="jane").json["error"] == "paddle_connect_active"


def test_a_connection_in_test_mode_keeps_nothing_out(brand, stage):
    brand.program()
    brand.affiliate("jane")
    connect_gateway(brand.person("Owner"), stage, mode="test", credentials={"apiKey": TEST_KEY})
    assert brand.sale(affiliateSlug="jane").status_code == 200
    assert brand.get("/api/billing/state").json["processorConnectLinked"] is False


@pytest.mark.parametrize("body", [{"since": "yesterday"}, {"since": 7}, {"since": ""}, {"since": "2026-13-01"}, []])
def test_since_is_a_moment(shop, owner, path, body):
    assert owner.post(f"{path}/reconcile", body).status_code == 400


@pytest.mark.parametrize("since", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "2026-01-01T00:00:00+14:00", None])
def test_since_may_be_any_moment(shop, owner, path, drain, since):
    before = shop.brand.rows("select reconciled_to from gateway_connection")
    assert owner.post(f"{path}/reconcile", {"since": since}).status_code == 202
    drain()
    after = shop.brand.rows("select reconciled_to from gateway_connection")
    assert (after == before) == (since is not None and since > "2027")


def test_an_unknown_status_or_event_is_said(shop, owner, path):
    assert shop.brand.get(f"{path}/events?status=Lost").status_code == 400
    assert shop.brand.get(f"{path}/events?take=x").status_code == 400
    assert owner.post(f"{path}/events/{uuid4()}/replay").status_code == 404
    assert owner.post(f"{path}/events/x/replay").status_code == 404


def test_an_event_of_another_connection_is_not_replayed_here(shop, owner, path):
    shop.deliver(shop.stage.create_unknown_event())
    (event,) = shop.brand.get(f"{path}/events").json["items"]
    owner.call("DELETE", path)
    other = connect_gateway(owner, shop.stage)
    assert owner.post(f"{URL}/{other['id']}/events/{event['id']}/replay").status_code == 404


def test_what_was_dropped_cannot_be_replayed(shop, owner, path, drain):
    shop.deliver(shop.stage.create_unknown_event())
    drain()
    (event,) = shop.brand.get(f"{path}/events").json["items"]
    shop.change("update gateway_event set raw = null")
    answer = owner.post(f"{path}/events/{event['id']}/replay")
    assert (answer.status_code, answer.json["error"]) == (409, "raw_dropped")
