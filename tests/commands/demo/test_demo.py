"""`flask demo`: made once, shown again, and everything it prints works."""

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
    """A data folder that no demo was made in."""
    chosen = override_settings(monkeypatch, servers={"data_dir": tmp_path / "data"}, web={"port": 8123})
    return chosen.servers.data_dir


@pytest.fixture
def flask(app, data_dir):
    """Run a command in an application as `flask` makes it for one, and return its output."""
    with click.Context(click.Group("flask")):
        of_command = create_app()
    assert [*of_command.blueprints] == []

    def run(*arguments: str) -> str:
        with of_command.app_context():  # as `flask` itself opens one
            done = of_command.test_cli_runner().invoke(args=arguments)
        assert done.exit_code == 0, done.output
        return done.output

    return run


def _count(table: str) -> int:
    with db.any_org_work():
        return db.db.row(f"select count(*) from {table}")[0]


def _brand(app, made) -> Brand:
    return Brand(app, made["organizationId"], made["apiKey"], made["signingSecret"])


def test_the_demo_is_made_once(flask):
    first = json.loads(flask("demo", "--json", "--show-secrets"))
    counted = [_count(table) for table in ("organization", "program", "affiliate", "webhook_endpoint", "api_key")]
    again = json.loads(flask("demo", "--json", "--show-secrets"))

    assert again == first
    assert [
        _count(table) for table in ("organization", "program", "affiliate", "webhook_endpoint", "api_key")
    ] == counted


def test_its_secrets_are_shown_once_and_then_only_when_they_are_asked_for(flask):
    first = flask("demo")
    made = json.loads(flask("demo", "--json", "--show-secrets"))
    later, as_json = flask("demo"), json.loads(flask("demo", "--json"))

    secrets = [made[name] for name in ("apiKey", "signingSecret", "webhookSecret")]
    assert secrets[0] in first and secrets[1] in first
    assert not any(secret in later for secret in secrets)
    assert "flask demo --show-secrets" in later
    assert as_json == made | {"apiKey": None, "signingSecret": None, "webhookSecret": None}
    assert _without_links(flask("demo", "--show-secrets")) == _without_links(first)


def test_it_prints_a_link_for_each_kind_of_person_that_signs_in_once(flask):
    first, again = (re.findall(_LINK, flask("demo", "--show-secrets")) for _ in range(2))

    assert [who for who, _ in first] == ["Owner", "affiliate", "operator"]
    assert not set(first) & set(again)
    assert re.findall(_LINK, flask("demo")) == []


def _without_links(said: str) -> str:
    return _LINK.sub(r"\1", said)


def test_what_it_prints_works_in_another_terminal(flask, data_dir):
    said = flask("demo")

    commands = re.findall(r"^.*\.venv/bin/flask .*$", said, re.MULTILINE)
    assert len(commands) == 3
    assert all(f"DATA_DIR={data_dir} PORT=8123 .venv/bin/flask " in command for command in commands)


def test_what_is_usual_is_not_said(monkeypatch):
    usual = settings.read({"DATA_DIR": str(Path(banner.__file__).parents[2] / ".data")})
    spaced = settings.read({"DATA_DIR": "/some where"})

    assert banner.command(usual, "jobs queues") == ".venv/bin/flask jobs queues"
    assert banner.command(spaced, "jobs queues") == "DATA_DIR='/some where' .venv/bin/flask jobs queues"


def test_its_secrets_are_kept_for_their_owner_alone(flask, data_dir):
    made = json.loads(flask("demo", "--json", "--show-secrets"))

    assert json.loads((data_dir / "demo.json").read_text()) == made
    assert stat.S_IMODE((data_dir / "demo.json").stat().st_mode) == 0o600


def test_a_demo_of_another_database_is_made_anew(flask, data_dir):
    first = json.loads(flask("demo", "--json", "--show-secrets"))
    elsewhere = first | {"organizationId": "01a1fe6b-a5b7-7231-b6dd-73ae340187c2"}
    (data_dir / "demo.json").write_text(json.dumps(elsewhere))

    again = json.loads(flask("demo", "--json", "--show-secrets"))

    assert again["organizationId"] not in (first["organizationId"], elsewhere["organizationId"])
    assert json.loads((data_dir / "demo.json").read_text()) == again


def test_a_sale_of_the_demo_pays_ben_and_rita(flask, app, drain):
    made = json.loads(flask("demo", "--json", "--show-secrets"))
    brand = _brand(app, made)
    with db.any_org_work():
        db.db.run("update webhook_endpoint set deleted_at = now() where id = %s", (made["webhookEndpointId"],))

    accepted = brand.sale(affiliateSlug=made["affiliateSlug"])
    drain()

    assert accepted.status_code == 200
    assert sorted(row["commissionCents"] for row in brand.get("/api/v1/conversions").json["items"]) == [200, 2_000]


def test_an_owner_of_the_demo_can_pay_what_was_sold(flask, app, drain):
    made = json.loads(flask("demo", "--json", "--show-secrets"))
    brand = _brand(app, made)
    with db.any_org_work():
        db.db.run("update webhook_endpoint set deleted_at = now() where id = %s", (made["webhookEndpointId"],))
    brand.set(payoutGraceDays="0")
    brand.sale(affiliateSlug=made["affiliateSlug"])
    drain()

    total = brand.post("/api/v1/payouts/preview").json["totalEligibleCents"]
    ran = brand.person("Owner").post("/api/v1/payouts/run", {"confirmTotalCents": total})
    drain()

    assert (total, ran.status_code) == (2_200, 200)
    shown = brand.get("/api/v1/payouts").json["items"]
    assert sorted((one["amountCents"], one["status"]) for one in shown) == [(200, "Paid"), (2_000, "Paid")]


def test_a_person_is_shown_a_sale_that_works_when_pasted(flask, app, tmp_path):
    said = flask("demo")
    made = json.loads(flask("demo", "--json", "--show-secrets"))
    lines = [line for line in said.splitlines() if line.startswith(("t=", "sig=", "curl"))]
    script = "\n".join([*lines[:2], 'printf "%s\\n%s\\n%s" "$t" "$body" "$sig"'])
    t, body, sig = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True).stdout.split("\n")

    answer = _brand(app, made).call("POST", "/api/tracking/s2s", body.encode(), X_Service_Signature=f"t={t},sig={sig}")

    assert re.search(r"^  demo key    ff_live_\S{43}$", said, re.MULTILINE)
    assert lines[2].startswith("curl -s http")
    assert answer.status_code == 200
    assert set(answer.json) == {"ok", "conversionId"}


def test_the_demo_is_not_for_somebodys_own_database():
    assert loopback.is_demo_enabled(settings.read({}))
    assert not loopback.is_demo_enabled(settings.read({"DATABASE_URL": "postgresql://x", "SECRET_KEY": "x" * 32}))


def test_an_answer_that_the_api_refuses_is_one_error(app, data_dir, monkeypatch):
    monkeypatch.setattr(own_api, "call", lambda *arguments: _refused())

    done = app.test_cli_runner().invoke(args=["demo"])

    assert done.exit_code == 1
    assert done.output == "Error: refused\n"
    assert not (data_dir / "demo.json").exists()


def test_the_application_of_a_command_answers_the_demo_without_having_been_mounted():
    bare = Flask("finderfee", static_folder=None)

    with bare.app_context():
        assert own_api.call("GET", "/api/openapi.json", None)["openapi"]


def _refused():
    import click

    raise click.ClickException("refused")


def test_a_private_machine_has_sample_rates_of_today_where_there_are_none(flask, monkeypatch):
    override_settings(monkeypatch, servers={"database_url": None})
    today = datetime.now(UTC).date()
    with db.any_org_work():
        db.db.run(
            "insert into fx_rate values ('CAD', %s, 1.25) on conflict (currency, published_on) do update set"
            " per_usd = 1.25",
            (today - timedelta(days=3),),
        )

    flask("demo", "--json", "--show-secrets")

    known = {row[0] for row in list_rates("EUR", "GBP", "AUD", "JPY") if row[1] >= today - timedelta(days=3)}
    assert known == {"EUR", "GBP", "AUD", "JPY"}
    assert list_rates("CAD")[-1][1:] == (today - timedelta(days=3), Decimal("1.25"))


def test_sample_rates_never_come_to_somebodys_own_database(flask, monkeypatch):
    monkeypatch.setattr(demo, "_SAMPLE_RATES", {"GYD": "209"})

    flask("demo", "--json", "--show-secrets")

    assert list_rates("GYD") == []


@pytest.mark.parametrize(
    ("given", "private", "also"),
    [
        ({}, "on", "127.0.0.1:8124"),
        ({"WEBHOOK_ALLOW_PRIVATE": "off"}, "off", "127.0.0.1:8124"),
        ({"WEBHOOK_ALLOW_PRIVATE": "on"}, "on", "127.0.0.1:8124"),
        ({"WEBHOOK_ALSO_ALLOW": "10.0.0.9:443"}, "on", "10.0.0.9:443,127.0.0.1:8124"),
    ],
)
def test_what_the_operator_says_of_webhooks_stands_beside_the_demos_receiver(data_dir, given, private, also):
    told = loopback.receiver_environment(settings.current(), given)

    assert (told["WEBHOOK_ALLOW_PRIVATE"], told["WEBHOOK_ALSO_ALLOW"]) == (private, also)


def test_the_operators_certificates_are_trusted_and_the_receivers_beside_them(data_dir, monkeypatch, tmp_path):
    (tmp_path / "mine.pem").write_text("what I trust\n")
    chosen = build_settings(webhooks={"ca_bundle": str(tmp_path / "mine.pem")})

    bundle = Path(loopback.receiver_environment(chosen, {})["WEBHOOK_CA_BUNDLE"])

    assert bundle.read_text() == "what I trust\n\n" + (data_dir / "receiver" / "cert.pem").read_text()
    absent = build_settings(webhooks={"ca_bundle": str(tmp_path / "none.pem")})
    with pytest.raises(click.ClickException, match=r"WEBHOOK_CA_BUNDLE cannot be read: .*none\.pem"):
        loopback.receiver_environment(absent, {})


def test_a_receiver_whose_port_is_in_use_says_what_to_do(data_dir):
    said = pytest.raises(click.ClickException, match=r"receiver cannot listen on port .* set another PORT")
    with socket.create_server(("127.0.0.1", 0)) as taken, said, loopback.listening("receiver", taken.getsockname()):
        socket.create_server(taken.getsockname())


def test_with_private_addresses_off_the_demo_reaches_its_receiver_and_no_other(flask, app, monkeypatch):
    override_settings(monkeypatch, webhooks={"allow_private": False, "also_allow": (("127.0.0.1", 8124),)})

    made = json.loads(flask("demo", "--json", "--show-secrets"))

    brand = _brand(app, made)
    assert [row["url"] for row in brand.get("/api/v1/webhooks").json["items"]] == ["https://127.0.0.1:8124/webhooks"]
    for url in ("https://127.0.0.1:8125/webhooks", "https://localhost:8124/webhooks", "https://10.0.0.9/"):
        assert brand.post("/api/v1/webhooks", {"url": url, "events": ["*"]}).json["error"] == "url_not_allowed"


def test_the_demos_endpoint_follows_its_receiver_to_another_port(flask, app, monkeypatch):
    made = json.loads(flask("demo", "--json", "--show-secrets"))
    override_settings(monkeypatch, web={"port": 8200}, webhooks={"also_allow": (("127.0.0.1", 8201),)})

    assert json.loads(flask("demo", "--json", "--show-secrets")) == made

    urls = [row["url"] for row in _brand(app, made).get("/api/v1/webhooks").json["items"]]
    assert urls == ["https://127.0.0.1:8201/webhooks"]


# For the name localhost alone.
_EARLIER = """\
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


def test_a_certificate_of_an_earlier_version_is_made_anew(data_dir):
    folder = certificate.ensure_certificate(data_dir)
    (folder / "cert.pem").write_text(_EARLIER)

    certificate.ensure_certificate(data_dir)
    made = (folder / "cert.pem").read_text()

    assert made != _EARLIER
    assert (certificate.ensure_certificate(data_dir) / "cert.pem").read_text() == made
