"""Processes of two releases work side by side: what a newer one writes, an older one reads, leaves or gives back.

docs/upgrades.md, "What two releases exchange".
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
from adapters import broker, clock, sealing
from adapters.clicks import serialization
from adapters.clicks.stream import FIELD, KEY
from adapters.identity.oidc import OidcSignIn
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
def paying(brand):
    brand.program(click_reward_cents=10)
    brand.affiliate(slug_of(brand))
    return brand


@pytest.fixture
def valkey(app):
    return broker.client(os.environ["REDIS_URL"])


def _newer(click):
    """Return a click in a form that this release cannot read."""
    return json.dumps({"version": 2, "click": json.loads(serialization.to_bytes(click))}).encode()


def _consume_as_newer(monkeypatch):
    """Write what was given back as a process would that reads `_newer` clicks."""
    read = serialization.from_bytes

    def read_newer(sent):
        opened = json.loads(sent)
        return read(json.dumps(opened["click"]).encode() if "click" in opened else sent)

    monkeypatch.setattr(serialization, "from_bytes", read_newer)
    # Other consumers claim an entry that was given back within ten seconds; here at once.
    return ClickConsumer(os.environ["REDIS_URL"], claim_s=60).run_once(idle_ms=60_000 - clicks._PUT_BACK_MS[1])


def _dead(brand):
    with db.any_org_work():
        return [name for (name,) in db.db.run("select name from job where failed_at is not null")]


def test_click_with_fields_of_a_newer_release_is_written(paying):
    click = build_click(paying, _affiliate(paying))
    send(json.dumps(json.loads(serialization.to_bytes(click)) | _NEWER).encode())

    assert consume_stream() == 1

    assert list_outcomes(paying, [click]) == ["earned"]
    assert _dead(paying) == []


def test_click_that_only_a_newer_release_reads_waits_for_it(paying, valkey, monkeypatch):
    older, newer = (build_click(paying, _affiliate(paying)) for _ in range(2))
    send(_newer(newer), older, age=timedelta(minutes=59))

    consume_stream()
    assert list_outcomes(paying, [older]) == ["earned"]
    assert [fields[FIELD] for _, fields in valkey.xrange(KEY)] == [_newer(newer)]
    assert consume_stream() == 0  # it does not take it again at once, either
    assert _consume_as_newer(monkeypatch) == 1

    assert list_outcomes(paying, [newer]) == ["earned"]
    assert (valkey.xlen(KEY), _dead(paying)) == (0, [])


def test_click_that_nobody_reads_for_an_hour_is_a_failed_job(paying, valkey):
    send(_newer(build_click(paying, _affiliate(paying))), age=timedelta(minutes=61))

    consume_stream()

    assert (valkey.xlen(KEY), _dead(paying)) == (0, ["click.unreadable"])


def test_late_click_that_only_a_newer_release_reads_waits_for_it(paying, drain, monkeypatch):
    click = build_click(paying, _affiliate(paying))
    with db.unit_of_work(paying.id):
        clicks.unwritten_clicks.enqueue_late(click)
    _change_args("click.late", {"entry": _newer(click).decode()})

    drain()
    assert _waiting() == [("click.late", 0)]
    _change_args("click.late", {"entry": serialization.to_bytes(click).decode()})
    drain()

    assert list_outcomes(paying, [click]) == ["earned"]


def test_lead_with_fields_of_a_newer_release_is_recorded(paying, drain):
    assert post_browser_lead(paying, email="ada@example.com").status_code == 200
    _change_args("lead.capture", {"sealed": _sealed_lead(paying, **_NEWER)} | _NEWER)

    drain()

    assert paying.rows("select email from lead") == [("ada@example.com",)]


def test_lead_that_a_newer_release_sealed_waits_for_it(paying, drain):
    assert post_browser_lead(paying, email="ada@example.com").status_code == 200
    _change_args("lead.capture", {"sealed": base64.b64encode(b"\x02" + bytes(60)).decode()})

    drain()
    assert _waiting() == [("lead.capture", 0)]
    _change_args("lead.capture", {"sealed": _sealed_lead(paying)})
    drain()

    assert paying.rows("select email from lead") == [("ada@example.com",)]


def test_sign_in_email_that_a_newer_release_sealed_waits_for_it(app, drain):
    with db.any_org_work():
        sign_in_emails.any_org_stage_request(email="nobody@example.com", browser_secret="cookie", back=None)
    _change_args("sign_in.letter", {"sealed": base64.b64encode(b"\x02" + bytes(60)).decode()})

    drain()

    assert _waiting() == [("sign_in.letter", 0)]


def test_every_job_reads_its_arguments_by_name():
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

    newer = written | _NEWER
    newer["origin"] = newer["origin"] | _NEWER
    for name in ("carriers", "codes"):
        newer["origin"][name] = [each | _NEWER for each in newer["origin"][name]]

    assert payment_json.parse(newer) == payment


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


def test_sign_in_begun_by_a_newer_release_goes_on(app):
    begin = OidcSignIn("state", "nonce", "verifier", is_fresh=False, at_s=int(clock.now().timestamp()))
    left = {"by": "dashboard", "back": "/", "begin": dataclasses.asdict(begin)}
    newer = left | _NEWER | {"begin": left["begin"] | _NEWER}

    found = provider_sign_in._unseal(_cookie(newer, provider_sign_in._USE))

    assert found is not None
    assert found.begin == begin
    assert provider_sign_in._unseal(_cookie(_NEWER, provider_sign_in._USE)) is None


def test_form_in_another_releases_shape_is_over(app):
    packed = base64.b64encode(zlib.compress(orjson.dumps(_NEWER))).decode()
    sealed = sealing.seal(packed, belongs_to=saved_forms._sealing_context("ada"))

    assert saved_forms.unseal(base64.urlsafe_b64encode(sealed).decode().rstrip("="), owner="ada") is None


def test_tool_confirmation_in_another_releases_shape_is_none(brand, monkeypatch):
    monkeypatch.setattr(confirmations, "_proof_owner", lambda use: "mcp test")
    sealed = sealing.seal(orjson.dumps(_NEWER).decode(), belongs_to="mcp test")

    assert confirmations._open_proof("confirm", base64.urlsafe_b64encode(sealed).decode(), "tool", {}) is None


def test_cursor_of_a_newer_release_is_refused_as_unknown(brand):
    longer = base64.urlsafe_b64encode(b"\x02" * 60).decode()

    for path in ("/api/v1/programs", "/api/v1/affiliates", "/api/v1/conversions"):
        answer = brand.get(f"{path}?cursor={longer}")
        assert (answer.status_code, "cursor" in answer.json["errors"]) == (400, True), path


def test_stored_answer_that_a_newer_release_sealed_is_asked_for_again_and_does_nothing_twice(brand):
    def create():
        return brand.post("/api/v1/webhooks", {"url": "https://shop.test/", "events": ["*"]}, Idempotency_Key="once")

    assert create().status_code == 201
    sealed = brand.rows("select body from stored_answer")[0][0]
    databases.alter_any("update stored_answer set body = %s", b"\x02" + bytes(sealed)[1:-1] + b"\x00")

    answer = create()
    assert (answer.status_code, answer.json["error"]) == (503, "temporarily_unavailable")
    databases.alter_any("update stored_answer set body = %s", bytes(sealed))
    again = create()

    assert (again.status_code, again.headers["Idempotency-Replayed"]) == (201, "true")
    assert brand.rows("select count(*) from webhook_endpoint") == [(1,)]


def test_mark_of_a_newer_release_is_read_at_the_primary(valkey):
    found = commit_positions.CommitPositions(os.environ["REDIS_URL"], keep_s=1)
    assert found.find_latest(["ada"]) is None  # the server is new
    valkey.delete(commit_positions._NEW)
    found.put(["ada"], 7)
    assert found.find_latest(["ada"]) == 7
    valkey.set(commit_positions._key("ada"), "v2:0000000000000007")

    assert found.find_latest(["ada"]) is None


def _affiliate(brand):
    return brand.rows("select id from affiliate")[0][0]


def _sealed_lead(brand, **more):
    lead = {"slug": slug_of(brand), "program_id": None, "email": "ada@example.com", "name": None, "sub_id": None}
    lead |= {"visitor": "ab" * 16, "network": "cd" * 16}
    return page_leads._seal(lead | more)


def _cookie(content, use):
    return base64.urlsafe_b64encode(sealing.seal(orjson.dumps(content).decode(), belongs_to=use)).decode().rstrip("=")


def _change_args(name, args):
    databases.alter_any(
        "update job set args = args || %s, run_at = now(), deadline = null where name = %s", db.Json(args), name
    )


def _waiting():
    """Return the jobs that wait, each with the attempts that it has used."""
    with db.any_org_work():
        return db.db.run("select name, attempt - (max_attempts - 20) from job where failed_at is null order by id")
