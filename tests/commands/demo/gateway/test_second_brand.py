"""The demo's second brand is created and connected once, whichever parts of it the data folder already has."""

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


def _list_connections(demo):
    columns = "select id, status, mode, account from gateway_connection order by connected_at"
    return demo.shop.rows(columns)


def _list_endpoints():
    return StripeObjectStore(settings.current().servers.data_dir).list_objects("/v1/webhook_endpoints")


def _count_rows(table):
    with db.any_org_work():
        return db.db.row(f"select count(*) from {table}")[0]


def test_second_brand_is_created_and_connected_once(demo):
    demo.create()
    facts, connections = demo.facts, _list_connections(demo)
    counts = [_count_rows(table) for table in ("organization", "program", "affiliate", "webhook_endpoint", "api_key")]

    demo.create()

    assert demo.facts == facts
    assert [row[1:3] for row in connections] == [("Active", "live")]
    assert _list_connections(demo) == connections
    assert len(_list_endpoints()) == 1
    assert [
        _count_rows(table) for table in ("organization", "program", "affiliate", "webhook_endpoint", "api_key")
    ] == counts


def test_connection_is_like_any_brands(demo):
    demo.create()
    ((connection_id, _, _, account),) = _list_connections(demo)
    (endpoint,) = _list_endpoints()
    view = demo.shop.get(f"/api/v1/connections/{connection_id}").json

    assert (view["webhookUrl"], view["account"]) == (endpoint["url"], account)
    assert account.startswith("acct_")
    key = (settings.current().servers.data_dir / "gateway" / "key").read_text()
    sealed = demo.shop.rows("select credentials_sealed, made_sealed from gateway_connection")[0]
    assert not any(secret.encode() in bytes(column) for secret in (key, endpoint["secret"]) for column in sealed)
    entries = demo.shop.rows("select actor_type, entity_id from audit_entry where action = 'connection.created'")
    assert entries == [("operator", str(connection_id))]


def test_demo_of_an_earlier_version_gets_the_second_brand(demo, monkeypatch):
    override_settings(monkeypatch, addresses={"apis": {"stripe": None}})
    demo.create()
    before = demo.facts
    assert not any(name.startswith("gateway") for name in before)

    override_settings(monkeypatch, addresses={"apis": {"stripe": loopback.gateway_url(settings.current())}})
    demo.create()

    assert {name: value for name, value in demo.facts.items() if name in before} == before
    assert [row[1] for row in _list_connections(demo)] == ["Active"]


@pytest.mark.parametrize("lost", ["books", "connection"])
def test_lost_part_is_created_again(demo, lost):
    demo.create()
    if lost == "books":
        shutil.rmtree(settings.current().servers.data_dir / "gateway")
    else:
        demo.shop.person("Owner").call("DELETE", f"/api/v1/connections/{_list_connections(demo)[0][0]}")

    demo.create()

    assert [row[1] for row in _list_connections(demo)] == ["Disconnected", "Active"]
    assert len(_list_endpoints()) == 1
    with demo.run_all():
        demo.json("demo-gateway", "pay")
        demo.receive_events("customer.subscription.created", "invoice.paid", "invoice_payment.paid")


def test_gateway_files_are_readable_by_their_owner_only(demo):
    demo.create()
    folder = settings.current().servers.data_dir / "gateway"

    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()} == {0o600}


def test_secrets_are_hidden_without_show_secrets(demo):
    demo.create()
    view = demo.json("demo")
    code, output = demo.flask("demo")

    assert (view["gatewayApiKey"], view["gatewayWebhookSecret"]) == (None, None)
    assert code == 0
    assert demo.facts["gatewayApiKey"] not in output


def test_gateway_steps_are_printed_only_with_a_second_brand(demo):
    demo.create()
    _, output = demo.flask("demo", "--show-secrets")
    facts_without_gateway = {name: value for name, value in demo.facts.items() if not name.startswith("gateway")}

    command_lines = [line for line in output.splitlines() if " .venv/bin/flask demo-gateway " in line]
    assert [line.split("demo-gateway ")[1] for line in command_lines] == [
        "pay",
        "renew",
        "refund --cents 1000",
        'pay --code "$code"',
        "refund",
    ]
    assert "demo-gateway" not in banner.full_text(facts_without_gateway, settings.current(), sign_in={})


def test_truncated_line_of_the_books_is_ignored(demo):
    demo.create()
    before = _list_endpoints()
    with (settings.current().servers.data_dir / "gateway" / "books.jsonl").open("a") as file:
        file.write('["/v1/webhook_endpoints/we_2", {"id": "we')

    assert _list_endpoints() == before


def test_port_in_use_is_reported_with_the_next_step(demo):
    address = loopback.gateway_address(settings.current())
    with socket.create_server(address):
        code, output = demo.flask("demo")

    assert code == 1
    assert f"Error: The demo's gateway cannot listen on port {address[1]} of 127.0.0.1" in output
    assert "Next: stop the program that uses that port, or set another PORT" in output
    stored = json.loads((settings.current().servers.data_dir / "demo.json").read_text())
    demo.create()
    assert demo.facts == stored


@pytest.mark.parametrize(
    ("database_url", "stripe_url", "is_simulated"),
    [
        (None, None, True),
        (None, "http://127.0.0.1:8125", True),
        (None, "https://api.stripe.com", False),
        ("postgresql://x", None, False),
    ],
)
def test_gateway_is_simulated_only_without_an_own_stripe_address_or_database(
    app, database_url, stripe_url, is_simulated
):
    chosen = build_settings(
        servers={"database_url": database_url}, web={"port": 8123}, addresses={"apis": {"stripe": stripe_url}}
    )

    assert loopback.is_gateway_simulated(chosen) is is_simulated
    assert loopback.gateway_environment(chosen) == (
        {"API_ADDRESSES": "stripe=http://127.0.0.1:8125"} if is_simulated else {}
    )


def test_command_in_another_terminal_calls_the_simulated_gateway(monkeypatch, tmp_path):
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


def test_demo_key_is_never_sent_to_the_real_stripe(demo, monkeypatch):
    demo.create()
    simulated_url = loopback.gateway_url(settings.current())
    override_settings(monkeypatch, addresses={"apis": {"stripe": "https://api.stripe.com"}})
    _, output = demo.flask("demo", "--show-secrets")

    assert [row[1] for row in _list_connections(demo)] == ["Disconnected"]
    assert "demo-gateway" not in output
    demo.create()
    override_settings(monkeypatch, addresses={"apis": {"stripe": simulated_url}})
    demo.create()
    assert [row[1] for row in _list_connections(demo)] == ["Disconnected", "Active"]
