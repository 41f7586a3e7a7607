"""The content of /docs, and the visitors to whom it shows the demo's key."""

import base64
import hashlib
import hmac
import html
import json
import re
import shlex

import pytest

import settings
from api.description import guide
from api.service import description
from domain.webhooks import signing
from tests.support.settings_overrides import override_settings

DEMO = {"apiKey": "ff_live_the-key-of-the-demo", "programId": "11111111-2222-4333-8444-555555555555"}


@pytest.fixture
def demo(app, tmp_path, monkeypatch):
    """A client of a service started by `make run`: embedded servers, and a demo in the data folder."""
    (tmp_path / "demo.json").write_text(json.dumps(DEMO))
    override_settings(monkeypatch, servers={"database_url": None, "data_dir": tmp_path})
    return app.test_client()


def _get_docs(client, **environ):
    return client.get("/docs", base_url=environ.pop("base_url", "http://127.0.0.1:8000"), **environ)


def test_local_visitor_gets_commands_with_the_demo_key(demo):
    page = _get_docs(demo)

    assert f"Authorization: Bearer {DEMO['apiKey']}" in html.unescape(page.text)
    assert f"/api/v1/programs/{DEMO['programId']}" in page.text
    assert page.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize(
    "request_",
    [
        {"environ_base": {"REMOTE_ADDR": "203.0.113.7"}},
        {"base_url": "http://acme.example"},
        {"base_url": "http://127.0.0.1.acme.example"},
        {"headers": {"X-Forwarded-For": "203.0.113.7"}},
        {"headers": {"Forwarded": "for=203.0.113.7"}},
        {"headers": {"Origin": "https://partners.acme.example"}},
    ],
)
def test_remote_visitor_does_not_get_the_demo_key(demo, request_):
    page = _get_docs(demo, **request_)

    assert page.status_code == 200
    assert DEMO["apiKey"] not in page.text
    assert "Bearer $KEY" in html.unescape(page.text)


def test_installation_with_external_servers_shows_no_key(app, tmp_path, monkeypatch):
    (tmp_path / "demo.json").write_text(json.dumps(DEMO))
    override_settings(monkeypatch, servers={"database_url": "postgresql://db", "data_dir": tmp_path})

    assert DEMO["apiKey"] not in _get_docs(app.test_client()).text


def test_docs_cannot_be_read_from_other_origins(app):
    for address in ("/docs", "/docs/errors"):
        answer = app.test_client().get(address, headers={"Origin": "https://evil.example"})

        assert "Access-Control-Allow-Origin" not in answer.headers


def test_content_security_policy_names_the_only_script(app):
    answer = app.test_client().get("/docs")
    [script] = re.findall("<script>(.*?)</script>", answer.text, re.DOTALL)
    digest = hashlib.sha256(script.encode()).digest()

    assert f"'sha256-{base64.b64encode(digest).decode()}'" in answer.headers["Content-Security-Policy"]


def test_example_command_runs_unchanged(brand):
    document = brand.get("/api/openapi.json").json
    entries = {entry.id: entry for section in _build_sections(brand.app) for entry in section.entries}
    words = shlex.split(entries["createProgram"].command.replace("\\\n", " ").replace("$KEY", brand.api_key))
    url, headers = words[2], [words[at + 1] for at, word in enumerate(words) if word == "-H"]

    answer = brand.app.test_client().post(
        url.removeprefix(document["servers"][0]["url"]),
        data=words[words.index("-d") + 1],
        headers=dict(header.split(": ", 1) for header in headers),
    )

    assert words[:2] == ["curl", "-s"]
    assert answer.status_code == 201


def test_signed_example_command_signs_its_body(brand):
    entries = {entry.id: entry for section in _build_sections(brand.app) for entry in section.entries}
    body, t, sig, *curl = entries["recordSale"].command.splitlines()

    assert json.loads(shlex.split(body)[0].removeprefix("body=")).keys() >= {"externalEventId", "amountCents"}
    assert t == "t=$(date +%s)"
    assert """printf '%s.%s' "$t" "$body" | openssl dgst -sha256 -hmac "$SIGNING_SECRET\"""" in sig
    assert '-H "X-Service-Signature: t=$t,sig=$sig"' in " ".join(curl)


def _build_sections(app):
    with app.test_request_context():
        return description._build_description(app).sections


def test_signature_vectors_match_a_plain_hmac(app):
    page = html.unescape(app.test_client().get("/docs").text)
    for vector, tag in ((guide.inbound_vector(), "sig"), (guide.outbound_vector(), "v1")):
        digest = hmac.new(vector.secret.encode(), f"{vector.t}.{vector.body}".encode(), hashlib.sha256).hexdigest()

        assert vector.header == f"t={vector.t},{tag}={digest}"
        for value in (vector.secret, str(vector.t), vector.body, vector.header):
            assert f"<code>{value}</code>" in page


def test_signed_example_is_valid_within_the_tolerance():
    vector = guide.inbound_vector()
    signed_request = {"header": vector.header, "secret": vector.secret.encode(), "body": vector.body.encode()}

    assert signing.verify_inbound(**signed_request, now_s=vector.t + 300)
    assert not signing.verify_inbound(**signed_request, now_s=vector.t + 301)


def test_chapters_quote_numbers_from_the_settings(app, monkeypatch):
    limits = settings.current().web.limits_per_min | {"s2s": 4321}
    webhooks = {"attempts_at_s": (0, 45, 600), "timeout_s": 7}
    override_settings(monkeypatch, webhooks=webhooks, web={"limits_per_min": limits})

    with app.test_request_context():
        chapters = guide.render_chapters([])

    assert "3 attempts in all, due at once, 45 s and 10 min after the event" in chapters["webhook-events"]
    assert "within 7 seconds" in chapters["webhook-events"]
    assert "| `s2s` | 4,321 |" in chapters["limits"]
    assert f"by up to {signing.TOLERANCE_S} seconds" in chapters["signing"]


def test_limits_table_quotes_sizes_from_the_guards(app):
    text = app.test_client().get("/llms/api.txt").text

    assert re.search(r"`/api/tracking/refund`, `/api/v1/tracking/refund`[^|]* \| 4 KiB \|", text)
    assert "`/api/v1/affiliates/import`" in text
    assert "| 4 MiB |" in text
    assert "| all others | 64 KiB |" in text


def test_error_page_lists_every_code_with_its_status(app):
    document = app.test_client().get("/api/openapi.json").json
    page = app.test_client().get("/docs/errors").text

    for methods in document["paths"].values():
        for operation in methods.values():
            for status, answer in operation["responses"].items():
                for code in answer.get("x-codes", []):
                    row = page.partition(f'<tr id="{code}"')[2].partition("</tr>")[0]
                    assert status in row, (status, code)
                    assert len(row) > len(code) * 2 + 40


@pytest.mark.parametrize("address", ["/docs", "/llms/api.txt"])
def test_docs_cover_the_integration_basics(app, address):
    text = app.test_client().get(address).text

    for word in (
        "X-Service-Signature",
        "X-Service-Delivery-Id",
        "The order is not guaranteed",
        "ff_test_",
        "Retry-After",
    ):
        assert word in text


def test_backticks_render_as_code(app):
    page = app.test_client().get("/docs").text

    assert "<code>deduped</code>" in page
    assert re.findall(r"<(?:p|td)>[^<]*`", page) == []
