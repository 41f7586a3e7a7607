"""The demo's second brand is made and connected once, whatever the data folder has of it already."""

import json
import shutil
import socket
import stat

import pytest

import settings
from commands.demo import banner, loopback
from commands.demo.gateway.object_store import StripeObjectStore
from models import db
from tests.support.settings_overrides import build_settings, override_settings


def _connections(demo):
    columns = "select id, status, mode, account from gateway_connection order by connected_at"
    return demo.shop.rows(columns)


def _endpoints():
    return StripeObjectStore(settings.current().servers.data_dir).list_objects("/v1/webhook_endpoints")


def _count(table):
    with db.any_org_work():
        return db.db.row(f"select count(*) from {table}")[0]


def test_it_is_made_and_connected_once(demo):
    demo.make()
    facts, connections = demo.facts, _connections(demo)
    counted = [_count(table) for table in ("organization", "program", "affiliate", "webhook_endpoint", "api_key")]

    demo.make()

    assert demo.facts == facts
    assert [row[1:3] for row in connections] == [("Active", "live")]
    assert _connections(demo) == connections
    assert len(_endpoints()) == 1
    assert [
        _count(table) for table in ("organization", "program", "affiliate", "webhook_endpoint", "api_key")
    ] == counted


def test_it_is_connected_as_any_brand_is(demo):
    demo.make()
    ((connection_id, _, _, account),) = _connections(demo)
    (endpoint,) = _endpoints()
    shown = demo.shop.get(f"/api/v1/connections/{connection_id}").json

    assert (shown["webhookUrl"], shown["account"]) == (endpoint["url"], account)
    assert account.startswith("acct_")
    key = (settings.current().servers.data_dir / "gateway" / "key").read_text()
    sealed = demo.shop.rows("select credentials_sealed, made_sealed from gateway_connection")[0]
    assert not any(secret.encode() in bytes(column) for secret in (key, endpoint["secret"]) for column in sealed)
    entries = demo.shop.rows("select actor_type, entity_id from audit_entry where action = 'connection.created'")
    assert entries == [("operator", str(connection_id))]


def test_a_demo_of_an_earlier_version_gets_it(demo, monkeypatch):
    override_settings(monkeypatch, addresses={"apis": {"stripe": None}})
    demo.make()
    before = demo.facts
    assert not any(name.startswith("gateway") for name in before)

    override_settings(monkeypatch, addresses={"apis": {"stripe": loopback.gateway_url(settings.current())}})
    demo.make()

    assert {name: value for name, value in demo.facts.items() if name in before} == before
    assert [row[1] for row in _connections(demo)] == ["Active"]


@pytest.mark.parametrize("lost", ["books", "connection"])
def test_what_was_lost_is_made_anew(demo, lost):
    demo.make()
    if lost == "books":
        shutil.rmtree(settings.current().servers.data_dir / "gateway")
    else:
        demo.shop.person("Owner").call("DELETE", f"/api/v1/connections/{_connections(demo)[0][0]}")

    demo.make()

    assert [row[1] for row in _connections(demo)] == ["Disconnected", "Active"]
    assert len(_endpoints()) == 1
    with demo.up():
        demo.json("demo-gateway", "pay")
        demo.hear("customer.subscription.created", "invoice.paid", "invoice_payment.paid")


def test_what_the_gateway_keeps_is_for_its_owner_alone(demo):
    demo.make()
    folder = settings.current().servers.data_dir / "gateway"

    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()} == {0o600}


def test_its_secrets_are_not_shown_to_a_log(demo):
    demo.make()
    shown = demo.json("demo")
    code, said = demo.flask("demo")

    assert (shown["gatewayApiKey"], shown["gatewayWebhookSecret"]) == (None, None)
    assert code == 0
    assert demo.facts["gatewayApiKey"] not in said


def test_its_steps_are_shown_where_it_is_and_only_there(demo):
    demo.make()
    _, said = demo.flask("demo", "--show-secrets")
    without = {name: value for name, value in demo.facts.items() if not name.startswith("gateway")}

    acts = [line for line in said.splitlines() if " .venv/bin/flask demo-gateway " in line]
    assert [line.split("demo-gateway ")[1] for line in acts] == [
        "pay",
        "renew",
        "refund --cents 1000",
        'pay --code "$code"',
        "refund",
    ]
    assert "demo-gateway" not in banner.full_text(without, settings.current(), sign_in={})


def test_a_line_of_the_books_that_was_cut_off_is_as_if_it_had_not_been_written(demo):
    demo.make()
    before = _endpoints()
    with (settings.current().servers.data_dir / "gateway" / "books.jsonl").open("a") as file:
        file.write('["/v1/webhook_endpoints/we_2", {"id": "we')

    assert _endpoints() == before


def test_a_port_that_is_in_use_is_said(demo):
    place = loopback.gateway_address(settings.current())
    with socket.create_server(place):
        code, said = demo.flask("demo")

    assert code == 1
    assert f"Error: The demo's gateway cannot listen on port {place[1]} of 127.0.0.1" in said
    assert "Next: stop the program that uses that port, or set another PORT" in said
    kept = json.loads((settings.current().servers.data_dir / "demo.json").read_text())
    demo.make()
    assert demo.facts == kept


@pytest.mark.parametrize(
    ("database_url", "given", "is_played"),
    [
        (None, None, True),
        (None, "http://127.0.0.1:8125", True),
        (None, "https://api.stripe.com", False),
        ("postgresql://x", None, False),
    ],
)
def test_where_the_operator_says_where_stripe_is_or_has_a_database_nothing_is_played(
    app, database_url, given, is_played
):
    chosen = build_settings(
        servers={"database_url": database_url}, web={"port": 8123}, addresses={"apis": {"stripe": given}}
    )

    assert loopback.is_gateway_simulated(chosen) is is_played
    assert loopback.gateway_environment(chosen) == (
        {"API_ADDRESSES": "stripe=http://127.0.0.1:8125"} if is_played else {}
    )


def test_a_command_in_another_terminal_calls_the_gateway_that_is_played(monkeypatch, tmp_path):
    for name in ("DATABASE_URL", "DATABASE_OWNER_URL"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("API_ADDRESSES", "")
    monkeypatch.setenv("PORT", "8123")
    monkeypatch.setenv("DATA_DIR", str(tmp_path))
    settings.current.cache_clear()
    try:
        loopback.use_simulated_gateway()
        assert settings.current().addresses.apis["stripe"] == "http://127.0.0.1:8125"
    finally:
        monkeypatch.undo()
        settings.current.cache_clear()


def test_the_demos_key_never_goes_to_the_real_stripe(demo, monkeypatch):
    demo.make()
    here = loopback.gateway_url(settings.current())
    override_settings(monkeypatch, addresses={"apis": {"stripe": "https://api.stripe.com"}})
    _, said = demo.flask("demo", "--show-secrets")

    assert [row[1] for row in _connections(demo)] == ["Disconnected"]
    assert "demo-gateway" not in said
    demo.make()
    override_settings(monkeypatch, addresses={"apis": {"stripe": here}})
    demo.make()
    assert [row[1] for row in _connections(demo)] == ["Disconnected", "Active"]
