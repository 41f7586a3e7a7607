"""Idempotency-Key: a repeated request returns the first answer and has no effect. Source: core spec, section 8."""

import contextlib
import random
import threading
import time
from string import ascii_letters, digits

import pytest

from domain.refusals import Refused
from models import db
from tests.support.api.concurrency import run_concurrently
from tests.support.rows.images import png

_PATH = "/api/v1/programs"
_LOGO = "/api/organizations/me/logo"
_BODY = {
    "name": "Spring",
    "slug": "spring",
    "defaultCommissionType": "Percentage",
    "defaultCommissionValue": 20,
    "defaultCommissionModel": "Cps",
}


def _post(caller, key="once", **changes):
    return caller.post(_PATH, _BODY | changes, Idempotency_Key=key)


def _list_program_slugs(brand):
    return [slug for (slug,) in brand.rows("select slug from program order by slug")]


def test_repeated_request_returns_the_first_answer_without_effect(brand):
    first = _post(brand)
    again = _post(brand)

    assert first.status_code == again.status_code == 201
    assert first.data == again.data
    assert first.content_type == again.content_type == "application/json"
    assert "Idempotency-Replayed" not in first.headers
    assert again.headers["Idempotency-Replayed"] == "true"
    assert _list_program_slugs(brand) == ["spring"]


def test_request_without_a_key_is_executed_again(brand):
    answers = [brand.post(_PATH, _BODY).status_code for _ in range(2)]

    assert answers[0] == 201
    assert answers[1] in (400, 409)


def test_same_key_with_another_body_returns_409(brand):
    first = _post(brand)
    other = _post(brand, slug="summer")
    again = _post(brand)

    assert other.status_code == 409
    assert other.json["error"] == "idempotency_conflict"
    assert again.data == first.data
    assert _list_program_slugs(brand) == ["spring"]


def _list_audit_actions(brand):
    return [action for (action,) in brand.rows("select action from audit_entry order by created_at")]


def test_repeated_patch_with_a_key_is_applied_once(brand):
    path = f"/api/v1/webhooks/{brand.endpoint('https://localhost/x')['id']}"

    first = brand.call("PATCH", path, {"description": "Ledger"}, Idempotency_Key="once")
    again = brand.call("PATCH", path, {"description": "Ledger"}, Idempotency_Key="once")
    other = brand.call("PATCH", path, {"description": "Other"}, Idempotency_Key="once")

    assert (first.status_code, first.json["description"]) == (200, "Ledger")
    assert "Idempotency-Replayed" not in first.headers
    assert (again.status_code, again.data, again.headers["Idempotency-Replayed"]) == (200, first.data, "true")
    assert (other.status_code, other.json["error"]) == (409, "idempotency_conflict")
    assert brand.get(path).json == first.json
    assert _list_audit_actions(brand) == ["webhook_endpoint.created", "webhook_endpoint.updated"]


def test_repeated_put_with_a_key_is_applied_once(brand):
    path = f"/api/v1/programs/{brand.program()}/sub-affiliate-config"

    first = brand.call("PUT", path, {"enabled": True, "percent": 5}, Idempotency_Key="once")
    again = brand.call("PUT", path, {"enabled": True, "percent": 5}, Idempotency_Key="once")
    other = brand.call("PUT", path, {"enabled": True, "percent": 50}, Idempotency_Key="once")

    assert (first.status_code, first.json) == (200, {"enabled": True, "percent": 5})
    assert "Idempotency-Replayed" not in first.headers
    assert (again.status_code, again.data, again.headers["Idempotency-Replayed"]) == (200, first.data, "true")
    assert (other.status_code, other.json["error"]) == (409, "idempotency_conflict")
    assert brand.get(path).json == {"enabled": True, "percent": 5}
    assert _list_audit_actions(brand) == ["program.sub_affiliate_config_changed"]


def test_same_key_with_another_method_is_independent(brand):
    path = f"/api/v1/programs/{brand.program()}/sub-affiliate-config"
    endpoint = f"/api/v1/webhooks/{brand.endpoint('https://localhost/x')['id']}"

    answers = [
        brand.call("PUT", path, {"enabled": True, "percent": 5}, Idempotency_Key="once"),
        brand.call("PATCH", endpoint, {"description": "Ledger"}, Idempotency_Key="once"),
        brand.post(f"{endpoint}/test", {}, Idempotency_Key="once"),
    ]

    assert [answer.status_code for answer in answers] == [200, 200, 200]
    assert not any("Idempotency-Replayed" in answer.headers for answer in answers)


def test_same_key_with_another_query_is_independent(brand):
    owner = brand.person("Owner")
    logo = owner.call("POST", _LOGO, png(16, 16), Content_Type="image/png", Idempotency_Key="once")

    favicon = owner.call("POST", f"{_LOGO}?kind=favicon", png(16, 16), Content_Type="image/png", Idempotency_Key="once")
    again = owner.call("POST", f"{_LOGO}?kind=favicon", png(16, 16), Content_Type="image/png", Idempotency_Key="once")

    assert logo.json["faviconUrl"] is None
    assert favicon.json["faviconUrl"] is not None
    assert "Idempotency-Replayed" not in favicon.headers
    assert (again.data, again.headers["Idempotency-Replayed"]) == (favicon.data, "true")


@pytest.mark.parametrize("part", ["%00", "x%ff", "".join(random.Random(1).choices(ascii_letters + digits, k=6000))])
def test_key_with_an_unstorable_path_is_refused_as_without_a_key(brand, part):
    path = f"/api/v1/api-keys/{part}/rotate"

    answers = [brand.person("Owner").post(path, **headers) for headers in ({}, {"Idempotency_Key": "once"})]

    assert [(answer.status_code, answer.json["error"]) for answer in answers] == [(404, "not_found")] * 2


@pytest.mark.parametrize("status", [429, 500, 503])
def test_retryable_error_is_not_stored(brand, monkeypatch, status):
    def refuse(**_):
        raise Refused(status, "temporarily_unavailable", "Not now.")

    with monkeypatch.context() as patched:
        patched.setattr("api.programs.programs.lifecycle.create", refuse)
        error = _post(brand)

    again = _post(brand)

    assert (error.status_code, again.status_code) == (status, 201)
    assert "Idempotency-Replayed" not in again.headers


def test_refusal_is_stored_and_replayed(brand):
    brand.program(slug="spring")
    refused = _post(brand)
    with db.unit_of_work(brand.id):
        db.db.run("update program set slug = 'free-again'")

    again = _post(brand)

    assert refused.status_code in (400, 409)
    assert (again.status_code, again.data) == (refused.status_code, refused.data)
    assert again.headers["Idempotency-Replayed"] == "true"
    assert _list_program_slugs(brand) == ["free-again"]


@contextlib.contextmanager
def _fail_statement(part: bytes, error: Exception):
    def raise_error(statements: bytes):
        if part in statements:
            raise error

    db.db.trip_hooks.append(raise_error)
    try:
        yield
    finally:
        db.db.trip_hooks.remove(raise_error)


@pytest.mark.parametrize(
    ("part", "error", "status"),
    [
        (b"insert into program ", ZeroDivisionError(), 500),
        (b"commit", ZeroDivisionError(), 500),
        (b"commit", db.UNAVAILABLE[0]("gone"), 503),
    ],
)
def test_server_error_is_not_stored(brand, part, error, status):
    with _fail_statement(part, error):
        error_answer = _post(brand)

    again = _post(brand)

    assert error_answer.status_code == status
    assert again.status_code == 201
    assert "Idempotency-Replayed" not in again.headers
    assert _list_program_slugs(brand) == ["spring"]


def test_ten_concurrent_requests_have_one_effect_and_one_answer(brand):
    answers = run_concurrently(*[lambda: _post(brand)] * 10)

    assert [answer.status_code for answer in answers] == [201] * 10
    assert len({answer.data for answer in answers}) == 1
    assert sorted(answer.headers.get("Idempotency-Replayed", "") for answer in answers) == ["", *["true"] * 9]
    assert _list_program_slugs(brand) == ["spring"]


def test_ten_concurrent_requests_with_an_expired_key_have_one_effect(brand):
    _post(brand)
    brand.rows("update stored_answer set created_at = now() - interval '61 minutes' returning key")
    brand.rows("update program set slug = 'old' returning id")

    answers = run_concurrently(*[lambda: _post(brand)] * 10)

    assert len({answer.data for answer in answers}) == 1
    assert _list_program_slugs(brand) == ["old", "spring"]


def test_repeat_of_an_unfinished_request_returns_409(brand):
    may_end = threading.Event()
    has_claimed = threading.Event()

    def wait(statements: bytes):
        if b"insert into program " in statements:
            has_claimed.set()
            may_end.wait(120)

    db.db.trip_hooks.append(wait)
    first = threading.Thread(target=run_concurrently, args=(lambda: _post(brand),))
    first.start()
    assert has_claimed.wait(60)
    started = time.monotonic()
    second = _post(brand)
    waited_s = time.monotonic() - started
    may_end.set()
    first.join()
    db.db.trip_hooks.remove(wait)

    assert (second.status_code, second.json["error"]) == (409, "idempotency_conflict")
    assert 4.5 < waited_s < 100
    assert _post(brand).headers["Idempotency-Replayed"] == "true"


def test_same_key_of_other_api_keys_organizations_and_paths_is_independent(brand, rival):
    first = _post(brand)
    others = [_post(brand.other_key(), slug="other-key"), _post(rival), _post(brand, key="other", slug="other-value")]
    other_path = brand.post("/api/v1/webhooks", {"url": "https://localhost/x", "events": ["*"]}, Idempotency_Key="once")

    assert [answer.status_code for answer in [first, *others, other_path]] == [201] * 5
    assert not any("Idempotency-Replayed" in answer.headers for answer in [*others, other_path])
    assert _list_program_slugs(brand) == ["other-key", "other-value", "spring"]


@pytest.mark.parametrize(("age", "is_replayed"), [("59 minutes", True), ("61 minutes", False)])
def test_key_expires_after_an_hour(brand, age, is_replayed):
    _post(brand)
    brand.rows("update stored_answer set created_at = now() - %s::interval returning key", age)
    brand.rows("update program set slug = 'old' returning id")

    again = _post(brand)

    assert again.status_code == 201
    assert ("Idempotency-Replayed" in again.headers) is is_replayed
    assert _list_program_slugs(brand) == (["old"] if is_replayed else ["old", "spring"])


@pytest.mark.parametrize("key", ["", "x" * 256, "tab\there", "bell\x07"])
def test_malformed_key_returns_400_without_effect(brand, key):
    answer = _post(brand, key=key)

    assert (answer.status_code, answer.json["error"]) == (400, "idempotency_key_invalid")
    assert _list_program_slugs(brand) == []


@pytest.mark.parametrize("key", ["x", "x" * 255, "'; -- %s \\", "é"])
def test_any_printable_key_is_accepted(brand, key):
    answers = [_post(brand, key=key) for _ in range(2)]

    assert answers[0].data == answers[1].data
    assert _list_program_slugs(brand) == ["spring"]


def test_malformed_body_is_not_stored(brand):
    malformed = brand.post(_PATH, b"{", Idempotency_Key="once")
    corrected = _post(brand)

    assert (malformed.status_code, corrected.status_code) == (400, 201)


def test_stored_answer_is_encrypted(brand):
    answer = brand.post("/api/v1/webhooks", {"url": "https://localhost/x", "events": ["*"]}, Idempotency_Key="once")
    rows = brand.rows("select body from stored_answer")

    assert answer.json["secret"].startswith("whsec_")
    assert len(rows) == 1
    assert answer.json["secret"].encode() not in bytes(rows[0][0])
    assert b"localhost" not in bytes(rows[0][0])
