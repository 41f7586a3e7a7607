"""`flask demo` creates its brand once, prints it again later, and everything that it prints works."""

import json
import re
import socket
import stat
import subprocess
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import click
import pytest
from flask import Flask

import settings
from app import create_app
from commands.demo import banner, certificate, demo, loopback, own_api
from models import db
from tests.support.rows.brands import Brand
from tests.support.rows.rates import list_rates
from tests.support.settings_overrides import build_settings, override_settings

_LINK = re.compile(r"(\w+) +http://127\.0\.0\.1:[0-9]+/sign-in/link/([\w-]{43})")


@pytest.fixture
def data_dir(app, tmp_path, monkeypatch):
    """Return a data folder without a demo."""
    chosen = override_settings(monkeypatch, servers={"data_dir": tmp_path / "data"}, web={"port": 8123})
    return chosen.servers.data_dir


@pytest.fixture
def flask(app, data_dir):
    """Run a command in the application that `flask` creates for a command; return its output."""
    with click.Context(click.Group("flask")):
        command_app = create_app()
    assert [*command_app.blueprints] == []

    def run(*arguments: str) -> str:
        with command_app.app_context():  # as `flask` itself opens one
            result = command_app.test_cli_runner().invoke(args=arguments)
        assert result.exit_code == 0, result.output
        return result.output

    return run


def _count_rows(table: str) -> int:
    with db.any_org_work():
        return db.db.row(f"select count(*) from {table}")[0]


def _build_brand(app, facts) -> Brand:
    return Brand(app, facts["organizationId"], facts["apiKey"], facts["signingSecret"])


def test_demo_is_created_once(flask):
    first = json.loads(flask("demo", "--json", "--show-secrets"))
    counts = [_count_rows(table) for table in ("organization", "program", "affiliate", "webhook_endpoint", "api_key")]
    again = json.loads(flask("demo", "--json", "--show-secrets"))

    assert again == first
    assert [
        _count_rows(table) for table in ("organization", "program", "affiliate", "webhook_endpoint", "api_key")
    ] == counts


def test_secrets_are_printed_once_and_later_only_with_show_secrets(flask):
    first = flask("demo")
    facts = json.loads(flask("demo", "--json", "--show-secrets"))
    later, as_json = flask("demo"), json.loads(flask("demo", "--json"))

    secrets = [facts[name] for name in ("apiKey", "signingSecret", "webhookSecret")]
    assert secrets[0] in first and secrets[1] in first
    assert not any(secret in later for secret in secrets)
    assert "flask demo --show-secrets" in later
    assert as_json == facts | {"apiKey": None, "signingSecret": None, "webhookSecret": None}
    assert _without_links(flask("demo", "--show-secrets")) == _without_links(first)


def test_each_role_gets_a_single_use_sign_in_link(flask):
    first, again = (re.findall(_LINK, flask("demo", "--show-secrets")) for _ in range(2))

    assert [role for role, _ in first] == ["Owner", "affiliate", "operator"]
    assert not set(first) & set(again)
    assert re.findall(_LINK, flask("demo")) == []


def _without_links(output: str) -> str:
    return _LINK.sub(r"\1", output)


def test_printed_commands_work_in_another_terminal(flask, data_dir):
    output = flask("demo")

    commands = re.findall(r"^.*\.venv/bin/flask .*$", output, re.MULTILINE)
    assert len(commands) == 3
    assert all(f"DATA_DIR={data_dir} PORT=8123 .venv/bin/flask " in command for command in commands)


def test_default_settings_are_left_out_of_printed_commands(monkeypatch):
    defaults = settings.read({"DATA_DIR": str(Path(banner.__file__).parents[2] / ".data")})
    spaced = settings.read({"DATA_DIR": "/some where"})

    assert banner.command(defaults, "jobs queues") == ".venv/bin/flask jobs queues"
    assert banner.command(spaced, "jobs queues") == "DATA_DIR='/some where' .venv/bin/flask jobs queues"


def test_stored_secrets_are_readable_by_their_owner_only(flask, data_dir):
    facts = json.loads(flask("demo", "--json", "--show-secrets"))

    assert json.loads((data_dir / "demo.json").read_text()) == facts
    assert stat.S_IMODE((data_dir / "demo.json").stat().st_mode) == 0o600


def test_demo_of_another_database_is_created_again(flask, data_dir):
    first = json.loads(flask("demo", "--json", "--show-secrets"))
    foreign = first | {"organizationId": "01a1fe6b-a5b7-7231-b6dd-73ae340187c2"}
    (data_dir / "demo.json").write_text(json.dumps(foreign))

    again = json.loads(flask("demo", "--json", "--show-secrets"))

    assert again["organizationId"] not in (first["organizationId"], foreign["organizationId"])
    assert json.loads((data_dir / "demo.json").read_text()) == again


def test_demo_sale_pays_ben_and_rita(flask, app, drain):
    facts = json.loads(flask("demo", "--json", "--show-secrets"))
    brand = _build_brand(app, facts)
    with db.any_org_work():
        db.db.run("update webhook_endpoint set deleted_at = now() where id = %s", (facts["webhookEndpointId"],))

    response = brand.sale(affiliateSlug=facts["affiliateSlug"])
    drain()

    assert response.status_code == 200
    assert sorted(row["commissionCents"] for row in brand.get("/api/v1/conversions").json["items"]) == [200, 2_000]


def test_demo_owner_can_pay_commissions(flask, app, drain):
    facts = json.loads(flask("demo", "--json", "--show-secrets"))
    brand = _build_brand(app, facts)
    with db.any_org_work():
        db.db.run("update webhook_endpoint set deleted_at = now() where id = %s", (facts["webhookEndpointId"],))
    brand.set(payoutGraceDays="0")
    brand.sale(affiliateSlug=facts["affiliateSlug"])
    drain()

    total = brand.post("/api/v1/payouts/preview").json["totalEligibleCents"]
    response = brand.person("Owner").post("/api/v1/payouts/run", {"confirmTotalCents": total})
    drain()

    assert (total, response.status_code) == (2_200, 200)
    payouts = brand.get("/api/v1/payouts").json["items"]
    assert sorted((payout["amountCents"], payout["status"]) for payout in payouts) == [(200, "Paid"), (2_000, "Paid")]


def test_printed_sale_works_when_pasted(flask, app, tmp_path):
    output = flask("demo")
    facts = json.loads(flask("demo", "--json", "--show-secrets"))
    lines = [line for line in output.splitlines() if line.startswith(("t=", "sig=", "curl"))]
    script = "\n".join([*lines[:2], 'printf "%s\\n%s\\n%s" "$t" "$body" "$sig"'])
    t, body, sig = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True).stdout.split("\n")

    response = _build_brand(app, facts).call(
        "POST", "/api/tracking/s2s", body.encode(), X_Service_Signature=f"t={t},sig={sig}"
    )

    assert re.search(r"^  demo key    ff_live_\S{43}$", output, re.MULTILINE)
    assert lines[2].startswith("curl -s http")
    assert response.status_code == 200
    assert set(response.json) == {"ok", "conversionId"}


def test_demo_is_disabled_with_an_external_database():
    assert loopback.is_demo_enabled(settings.read({}))
    assert not loopback.is_demo_enabled(settings.read({"DATABASE_URL": "postgresql://x", "SECRET_KEY": "x" * 32}))


def test_refused_api_call_is_a_one_line_error(app, data_dir, monkeypatch):
    monkeypatch.setattr(own_api, "call", lambda *arguments: _raise_refusal())

    result = app.test_cli_runner().invoke(args=["demo"])

    assert result.exit_code == 1
    assert result.output == "Error: refused\n"
    assert not (data_dir / "demo.json").exists()


def test_command_application_answers_before_its_routes_are_mounted():
    bare = Flask("finderfee", static_folder=None)

    with bare.app_context():
        assert own_api.call("GET", "/api/openapi.json", None)["openapi"]


def test_calls_of_a_command_leave_no_log_line_in_its_output(app, capfd):
    with app.app_context():
        own_api.call("GET", "/api/openapi.json", None)

    assert '"event":"request"' not in "".join(capfd.readouterr())


def _raise_refusal():
    import click

    raise click.ClickException("refused")


def test_missing_rates_are_filled_with_samples_on_a_private_machine(flask, monkeypatch):
    override_settings(monkeypatch, servers={"database_url": None})
    today = datetime.now(UTC).date()
    with db.any_org_work():
        db.db.run(
            "insert into fx_rate values ('CAD', %s, 1.25) on conflict (currency, published_on) do update set"
            " per_usd = 1.25",
            (today - timedelta(days=3),),
        )

    flask("demo", "--json", "--show-secrets")

    sampled = {row[0] for row in list_rates("EUR", "GBP", "AUD", "JPY") if row[1] >= today - timedelta(days=3)}
    assert sampled == {"EUR", "GBP", "AUD", "JPY"}
    assert list_rates("CAD")[-1][1:] == (today - timedelta(days=3), Decimal("1.25"))


def test_external_database_gets_no_sample_rates(flask, monkeypatch):
    monkeypatch.setattr(demo, "_SAMPLE_RATES", {"GYD": "209"})

    flask("demo", "--json", "--show-secrets")

    assert list_rates("GYD") == []


@pytest.mark.parametrize(
    ("environment", "allow_private", "also_allow"),
    [
        ({}, "on", "127.0.0.1:8124"),
        ({"WEBHOOK_ALLOW_PRIVATE": "off"}, "off", "127.0.0.1:8124"),
        ({"WEBHOOK_ALLOW_PRIVATE": "on"}, "on", "127.0.0.1:8124"),
        ({"WEBHOOK_ALSO_ALLOW": "10.0.0.9:443"}, "on", "10.0.0.9:443,127.0.0.1:8124"),
    ],
)
def test_webhook_settings_of_the_operator_are_kept_with_the_receiver_added(
    data_dir, environment, allow_private, also_allow
):
    variables = loopback.receiver_environment(settings.current(), environment)

    assert (variables["WEBHOOK_ALLOW_PRIVATE"], variables["WEBHOOK_ALSO_ALLOW"]) == (allow_private, also_allow)


def test_ca_bundle_contains_the_operators_and_the_receivers_certificates(data_dir, monkeypatch, tmp_path):
    (tmp_path / "mine.pem").write_text("what I trust\n")
    chosen = build_settings(webhooks={"ca_bundle": str(tmp_path / "mine.pem")})

    bundle = Path(loopback.receiver_environment(chosen, {})["WEBHOOK_CA_BUNDLE"])

    assert bundle.read_text() == "what I trust\n\n" + (data_dir / "receiver" / "cert.pem").read_text()
    absent = build_settings(webhooks={"ca_bundle": str(tmp_path / "none.pem")})
    with pytest.raises(click.ClickException, match=r"WEBHOOK_CA_BUNDLE cannot be read: .*none\.pem"):
        loopback.receiver_environment(absent, {})


def test_receiver_port_in_use_is_reported_with_the_next_step(data_dir):
    refusal = pytest.raises(click.ClickException, match=r"receiver cannot listen on port .* set another PORT")
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        refusal,
        loopback.listening("receiver", server.getsockname()),
    ):
        socket.create_server(server.getsockname())


def test_demo_without_private_addresses_reaches_its_receiver_only(flask, app, monkeypatch):
    override_settings(monkeypatch, webhooks={"allow_private": False, "also_allow": (("127.0.0.1", 8124),)})

    facts = json.loads(flask("demo", "--json", "--show-secrets"))

    brand = _build_brand(app, facts)
    assert [row["url"] for row in brand.get("/api/v1/webhooks").json["items"]] == ["https://127.0.0.1:8124/webhooks"]
    for url in ("https://127.0.0.1:8125/webhooks", "https://localhost:8124/webhooks", "https://10.0.0.9/"):
        assert brand.post("/api/v1/webhooks", {"url": url, "events": ["*"]}).json["error"] == "url_not_allowed"


def test_demo_endpoint_follows_its_receiver_to_another_port(flask, app, monkeypatch):
    facts = json.loads(flask("demo", "--json", "--show-secrets"))
    override_settings(monkeypatch, web={"port": 8200}, webhooks={"also_allow": (("127.0.0.1", 8201),)})

    assert json.loads(flask("demo", "--json", "--show-secrets")) == facts

    urls = [row["url"] for row in _build_brand(app, facts).get("/api/v1/webhooks").json["items"]]
    assert urls == ["https://127.0.0.1:8201/webhooks"]


# A certificate of an earlier version: valid for the name localhost only.
_OLD_CERTIFICATE = """\
-----BEGIN CERTIFICATE-----
MIIBczCCARigAwIBAgIUDPub+QXzKRmj6qW4e7Whs1TYuGYwCgYIKoZIzj0EAwIw
IjEgMB4GA1UEAwwXRmluZGVyZmVlIGRlbW8gcmVjZWl2ZXIwHhcNMjYxMTIxMDYy
MDA0WhcNMzYxMTE5MDYyMDA0WjAiMSAwHgYDVQQDDBdGaW5kZXJmZWUgZGVtbyBy
ZWNlaXZlcjBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABNLCSgn6+8NADOMc1n3F
j94Njdwvg1xvZ+LwrV0z+KQ/Oe96woHGhll5Tn1wa1D8286oV+IldupiPv2p65m1
zM2jLDAqMBQGA1UdEQQNMAuCCWxvY2FsaG9zdDASBgNVHRMBAf8ECDAGAQH/AgEA
MAoGCCqGSM49BAMCA0kAMEYCIQDayl1o0v0aXNBntNbNCR8cGadekD6jGor5MRf7
pt0BPQIhAKCEe0c4KIZue0BTiEiFr5Pc7ausmtSfeK6la62L7CQf
-----END CERTIFICATE-----
"""


def test_certificate_of_an_earlier_version_is_replaced(data_dir):
    folder = certificate.ensure_certificate(data_dir)
    (folder / "cert.pem").write_text(_OLD_CERTIFICATE)

    certificate.ensure_certificate(data_dir)
    replacement = (folder / "cert.pem").read_text()

    assert replacement != _OLD_CERTIFICATE
    assert (certificate.ensure_certificate(data_dir) / "cert.pem").read_text() == replacement
