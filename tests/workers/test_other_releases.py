"""Processes of two releases run side by side: what a newer one writes, an older one reads, leaves or returns.

docs/upgrades.md, "Data that two releases exchange".
"""

import ast
import base64
import dataclasses
import json
import os
import zlib
from datetime import timedelta
from pathlib import Path

import orjson
import pytest

import workers
from adapters import broker, clock
from adapters.clicks import serialization
from adapters.clicks.stream import FIELD, KEY
from adapters.identity.oidc import OidcSignIn
from adapters.secret_key import sealing
from api import provider_sign_in, saved_forms
from api.edge.replica import commit_positions
from api.mcp.tool_calls import confirmations
from domain.fraud import ClickFacts
from domain.gateways import payment_json
from domain.gateways.facts import BuyerOrigin, Carrier, PaymentFact, RedeemedCode
from domain.text import stored_values
from models import db
from pipelines.clicks import scores
from pipelines.leads import page_leads
from pipelines.organization import sign_in_emails
from tests.support import databases
from tests.support.rows.click_rows import build_click, consume_stream, list_outcomes, send
from tests.support.rows.leads import post_browser_lead, slug_of
from workers import clicks
from workers.clicks import ClickConsumer

_NEWER = {"addedByANewerRelease": {"version": 2}}


@pytest.fixture
def click_brand(brand):
    brand.program(click_reward_cents=10)
    brand.affiliate(slug_of(brand))
    return brand


@pytest.fixture
def valkey(app):
    return broker.client(os.environ["REDIS_URL"])


def _serialize_as_newer(click):
    """Return a click in a form that this release cannot read."""
    return json.dumps({"version": 2, "click": json.loads(serialization.to_bytes(click))}).encode()


def _consume_as_newer(monkeypatch):
    """Consume returned entries like a process that reads clicks of a newer release."""
    read = serialization.from_bytes

    def read_newer(data):
        decoded = json.loads(data)
        return read(json.dumps(decoded["click"]).encode() if "click" in decoded else data)

    monkeypatch.setattr(serialization, "from_bytes", read_newer)
    # Other consumers claim a returned entry within ten seconds; here at once.
    return ClickConsumer(os.environ["REDIS_URL"], claim_s=60).run_once(idle_ms=60_000 - clicks._PUT_BACK_MS[1])


def _list_dead_jobs(brand):
    with db.any_org_work():
        return [name for (name,) in db.db.run("select name from job where failed_at is not null")]


def test_click_with_fields_of_a_newer_release_is_written(click_brand):
    click = build_click(click_brand, _affiliate(click_brand))
    send(json.dumps(json.loads(serialization.to_bytes(click)) | _NEWER).encode())

    assert consume_stream() == 1

    assert list_outcomes(click_brand, [click]) == ["earned"]
    assert _list_dead_jobs(click_brand) == []


def test_click_of_an_unknown_format_waits_for_a_newer_release(click_brand, valkey, monkeypatch):
    older_click, newer_click = (build_click(click_brand, _affiliate(click_brand)) for _ in range(2))
    send(_serialize_as_newer(newer_click), older_click, age=timedelta(minutes=59))

    consume_stream()
    assert list_outcomes(click_brand, [older_click]) == ["earned"]
    assert [fields[FIELD] for _, fields in valkey.xrange(KEY)] == [_serialize_as_newer(newer_click)]
    assert consume_stream() == 0  # it does not read it again at once
    assert _consume_as_newer(monkeypatch) == 1

    assert list_outcomes(click_brand, [newer_click]) == ["earned"]
    assert (valkey.xlen(KEY), _list_dead_jobs(click_brand)) == (0, [])


def test_click_of_an_unknown_format_becomes_a_dead_letter_after_an_hour(click_brand, valkey):
    send(_serialize_as_newer(build_click(click_brand, _affiliate(click_brand))), age=timedelta(minutes=61))

    consume_stream()

    assert (valkey.xlen(KEY), _list_dead_jobs(click_brand)) == (0, ["click.unreadable"])


def test_late_click_of_an_unknown_format_waits_for_a_newer_release(click_brand, drain, monkeypatch):
    click = build_click(click_brand, _affiliate(click_brand))
    with db.unit_of_work(click_brand.id):
        clicks.unwritten_clicks.enqueue_late(click)
    _change_args("click.late", {"entry": _serialize_as_newer(click).decode()})

    drain()
    assert _list_waiting_jobs() == [("click.late", 0)]
    _change_args("click.late", {"entry": serialization.to_bytes(click).decode()})
    drain()

    assert list_outcomes(click_brand, [click]) == ["earned"]


def test_lead_with_fields_of_a_newer_release_is_recorded(click_brand, drain):
    assert post_browser_lead(click_brand, email="ada@example.com").status_code == 200
    _change_args("lead.capture", {"sealed": _sealed_lead(click_brand, **_NEWER)} | _NEWER)

    drain()

    assert click_brand.rows("select email from lead") == [("ada@example.com",)]


def test_lead_sealed_by_a_newer_release_waits_for_it(click_brand, drain):
    assert post_browser_lead(click_brand, email="ada@example.com").status_code == 200
    _change_args("lead.capture", {"sealed": base64.b64encode(b"\x02" + bytes(60)).decode()})

    drain()
    assert _list_waiting_jobs() == [("lead.capture", 0)]
    _change_args("lead.capture", {"sealed": _sealed_lead(click_brand)})
    drain()

    assert click_brand.rows("select email from lead") == [("ada@example.com",)]


def test_sign_in_email_sealed_by_a_newer_release_waits_for_it(app, drain):
    with db.any_org_work():
        sign_in_emails.any_org_stage_request(email="nobody@example.com", browser_secret="cookie", back=None)
    _change_args("sign_in.letter", {"sealed": base64.b64encode(b"\x02" + bytes(60)).decode()})

    drain()

    assert _list_waiting_jobs() == [("sign_in.letter", 0)]


def test_jobs_read_their_arguments_by_name():
    """An argument that a newer release added is ignored: none is passed on whole."""
    spread = [
        f"{path.name}:{node.lineno}"
        for path in (Path(workers.__file__).parent / "queues").glob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.keyword) and node.arg is None and ast.unparse(node.value).endswith(".args")
    ]

    assert spread == []


_CARRIER = Carrier(**{field.name: None for field in dataclasses.fields(Carrier)})
_CODE = RedeemedCode(**{field.name: None for field in dataclasses.fields(RedeemedCode)})


def test_payment_stored_by_a_newer_release_is_read():
    values = {field.name: None for field in dataclasses.fields(PaymentFact)}
    origin = {field.name: None for field in dataclasses.fields(BuyerOrigin)}
    origin = BuyerOrigin(**origin | {"carriers": (_CARRIER,), "codes": (_CODE,)})
    payment = PaymentFact(**values | {"paid_at": clock.now(), "aliases": ("a",), "origin": origin})
    written = orjson.loads(orjson.dumps(payment_json.serialize(payment)))

    newer_click = written | _NEWER
    newer_click["origin"] = newer_click["origin"] | _NEWER
    for name in ("carriers", "codes"):
        newer_click["origin"][name] = [each | _NEWER for each in newer_click["origin"][name]]

    assert payment_json.parse(newer_click) == payment


def test_click_facts_of_a_newer_release_are_read():
    facts = {"agent": "Firefox", "languages": ["de"], "query_names": ["via"]}

    assert (
        scores._parse_facts(facts | _NEWER)
        == scores._parse_facts(facts)
        == ClickFacts(agent="Firefox", languages=("de",), query_names=frozenset({"via"}))
    )


def test_stored_value_without_a_required_field_is_an_error():
    with pytest.raises(TypeError):
        stored_values.read(Carrier, _NEWER)


def test_sign_in_started_by_a_newer_release_is_completed(app):
    begin = OidcSignIn("state", "nonce", "verifier", is_fresh=False, at_s=int(clock.now().timestamp()))
    stored = {"by": "dashboard", "back": "/", "begin": dataclasses.asdict(begin)}
    newer_stored = stored | _NEWER | {"begin": stored["begin"] | _NEWER}

    pending = provider_sign_in._unseal(_cookie(newer_stored, provider_sign_in._USE))

    assert pending is not None
    assert pending.sign_in == begin
    assert provider_sign_in._unseal(_cookie(_NEWER, provider_sign_in._USE)) is None


def test_form_of_another_release_is_discarded(app):
    packed = base64.b64encode(zlib.compress(orjson.dumps(_NEWER))).decode()
    sealed = sealing.seal(packed, belongs_to=saved_forms._sealing_context("ada"))

    assert saved_forms.unseal(base64.urlsafe_b64encode(sealed).decode().rstrip("="), owner="ada") is None


def test_tool_confirmation_of_another_release_is_rejected(brand, monkeypatch):
    monkeypatch.setattr(confirmations, "_proof_owner", lambda use: "mcp test")
    sealed = sealing.seal(orjson.dumps(_NEWER).decode(), belongs_to="mcp test")

    assert confirmations._open_proof("confirm", base64.urlsafe_b64encode(sealed).decode(), "tool", {}) is None


def test_cursor_of_a_newer_release_returns_400(brand):
    longer = base64.urlsafe_b64encode(b"\x02" * 60).decode()

    for path in ("/api/v1/programs", "/api/v1/affiliates", "/api/v1/conversions"):
        answer = brand.get(f"{path}?cursor={longer}")
        assert (answer.status_code, "cursor" in answer.json["errors"]) == (400, True), path


def test_response_sealed_by_a_newer_release_returns_503_and_repeats_nothing(brand):
    def create():
        return brand.post("/api/v1/webhooks", {"url": "https://shop.test/", "events": ["*"]}, Idempotency_Key="once")

    assert create().status_code == 201
    sealed = brand.rows("select body from stored_answer")[0][0]
    databases.run_for_all_tenants("update stored_answer set body = %s", b"\x02" + bytes(sealed)[1:-1] + b"\x00")

    answer = create()
    assert (answer.status_code, answer.json["error"]) == (503, "temporarily_unavailable")
    databases.run_for_all_tenants("update stored_answer set body = %s", bytes(sealed))
    response = create()

    assert (response.status_code, response.headers["Idempotency-Replayed"]) == (201, "true")
    assert brand.rows("select count(*) from webhook_endpoint") == [(1,)]


def test_mark_of_a_newer_release_is_read_at_the_primary(valkey):
    positions = commit_positions.CommitPositions(os.environ["REDIS_URL"], keep_s=1)
    assert positions.find_latest(["ada"]) is None  # the server is empty
    valkey.delete(commit_positions._NEW)
    positions.record(["ada"], 7)
    assert positions.find_latest(["ada"]) == 7
    valkey.set(commit_positions._key("ada"), "v2:0000000000000007")

    assert positions.find_latest(["ada"]) is None


def _affiliate(brand):
    return brand.rows("select id from affiliate")[0][0]


def _sealed_lead(brand, **more):
    lead = {"slug": slug_of(brand), "program_id": None, "email": "ada@example.com", "name": None, "sub_id": None}
    lead |= {"visitor": "ab" * 16, "network": "cd" * 16}
    return page_leads._seal(lead | more)


def _cookie(content, use):
    return base64.urlsafe_b64encode(sealing.seal(orjson.dumps(content).decode(), belongs_to=use)).decode().rstrip("=")


def _change_args(name, args):
    databases.run_for_all_tenants(
        "update job set args = args || %s, run_at = now(), deadline = null where name = %s", db.Json(args), name
    )


def _list_waiting_jobs():
    """Return the waiting jobs, each with the number of attempts used."""
    with db.any_org_work():
        return db.db.run("select name, attempt - (max_attempts - 20) from job where failed_at is null order by id")
