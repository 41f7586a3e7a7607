"""An embed token opens only the embed routes, and only it opens them. Source: core spec, section 5."""

import re
from uuid import uuid4

import pytest

from tests.support.api.embed_tokens import TOKENS, call_embed_api, issue_token
from tests.support.api.lists import count_round_trips
from tests.support.rows.brands import Partner
from tests.support.rows.link_visits import create_limiter
from tests.support.settings_overrides import override_settings

_EMBED_ROUTES = (
    ("GET", "/me"),
    ("GET", "/me/series"),
    ("GET", "/me/conversions"),
    ("GET", "/me/payouts"),
    ("POST", "/links"),
)


@pytest.fixture
def ben_id(brand):
    """The id of an Approved affiliate of the brand."""
    brand.program()
    return brand.affiliate("ben")


@pytest.fixture
def token(brand, ben_id):
    """Ben's embed token."""
    return issue_token(brand, ben_id)["token"]


def _call_every_embed_route(app, token, **headers):
    return [
        call_embed_api(app, token, path, method=method, body={} if method == "POST" else None, **headers)
        for method, path in _EMBED_ROUTES
    ]


def _list_statuses(app, token, **headers):
    return {answer.status_code for answer in _call_every_embed_route(app, token, **headers)}


def test_embed_token_on_any_other_route_returns_401(app, token):
    client, tried = app.test_client(), 0
    for rule in app.url_map.iter_rules():
        if app.view_functions[rule.endpoint].operation.guard.audience in ("public", "embed"):
            continue
        for method in rule.methods - {"HEAD", "OPTIONS"}:
            path = re.sub(r"<[^>]*>", str(uuid4()), rule.rule)
            answer = client.open(path, method=method, headers={"Authorization": f"Bearer {token}"})
            tried += 1

            assert (answer.status_code, answer.data) == (401, b""), f"{method} {rule.rule}"
    assert tried > 150


def test_other_credential_on_any_embed_route_returns_401(app, brand, token, ben_id):
    email = brand.rows("select email from affiliate where id = %s", ben_id)[0][0]
    credentials = {
        "a key": brand.api_key,
        "an owner": brand.person("Owner").api_key,
        "the affiliate": Partner(app, email).token,
        "nonsense": "nonsense",
        "nothing": "",
        "a changed one": token[:-1] + ("A" if token[-1] != "A" else "B"),
        "a longer one": f"{token}A",
        "other letters": "ff_emb_" + "é" * 64,
    }
    answers_by_name = {
        name: _call_every_embed_route(app, value.encode().decode("latin-1")) for name, value in credentials.items()
    }

    assert {
        name: {(answer.status_code, answer.data) for answer in answers} for name, answers in answers_by_name.items()
    } == {name: {(401, b"")} for name in credentials}
    legacy = app.test_client().get("/api/v1/embed/me", headers={"X-Service-Api-Key": token})
    assert legacy.status_code == 401
    assert app.test_client().get(f"/api/v1/embed/me?token={token}").status_code == 401
    assert _list_statuses(app, token) == {200, 201}


@pytest.mark.parametrize("status", ["Pending", "Rejected", "Paused", "Banned"])
def test_token_of_an_unapproved_affiliate_returns_401(app, brand, ben_id, token, status):
    brand.call("PATCH", f"/api/v1/affiliates/{ben_id}", {"status": status})

    assert _list_statuses(app, token) == {401}


def test_token_of_a_deleted_affiliate_returns_401(app, brand, ben_id, token):
    brand.rows("update affiliate set deleted_at = now() where id = %s returning id", ben_id)

    assert _list_statuses(app, token) == {401}


def test_smaller_plan_returns_402(app, brand, token):
    brand.set(plan="Starter")

    answers = _call_every_embed_route(app, token)
    assert {(answer.status_code, answer.json["error"], answer.json["current"]) for answer in answers} == {
        (402, "plan_tier_required", "Starter")
    }


def test_cross_site_request_returns_403(app, token):
    assert _list_statuses(app, token, Sec_Fetch_Site="same-origin") == {200, 201}
    for site in ("cross-site", "same-site", "none", "SAME-ORIGIN", ""):
        assert _list_statuses(app, token, Sec_Fetch_Site=site) == {403}, site


@pytest.mark.parametrize("origin", ["https://app.acme.example", "http://127.0.0.1:8000", "null"])
def test_answers_have_no_cors_headers(app, brand, token, origin):
    client = app.test_client()
    headers = {
        "Origin": origin,
        "Access-Control-Request-Method": "GET",
        "Access-Control-Request-Headers": "authorization",
    }
    answers = [
        *_call_every_embed_route(app, token, Origin=origin),
        client.options("/api/v1/embed/me", headers=headers),
        client.options("/api/v1/embed/tokens", headers=headers),
        brand.get("/api/v1/embed/tokens", Origin=origin),
    ]

    cors_headers = [
        name for answer in answers for name, _ in answer.headers if name.lower().startswith("access-control-")
    ]
    assert cors_headers == []


def test_rate_limit_is_per_token(app, brand, ben_id, token, monkeypatch):
    other = issue_token(brand, brand.affiliate("eva"))["token"]
    monkeypatch.setitem(app.extensions, "limiter", create_limiter(embed=2))

    assert [call_embed_api(app, token, "/me").status_code for _ in range(3)] == [200, 200, 429]
    assert call_embed_api(app, other, "/me").status_code == 200


def test_answers_are_never_cached(app, token):
    assert {answer.headers["Cache-Control"] for answer in _call_every_embed_route(app, token)} == {"no-store"}


def test_forged_token_is_refused_without_the_database(app, token, monkeypatch):
    monkeypatch.setattr("api.access.embed_viewers.db", None)

    assert _list_statuses(app, token[:-1] + ("A" if token[-1] != "A" else "B")) == {401}


def test_viewer_is_cached_until_the_token_is_rotated_or_revoked(app, brand, ben_id, token, monkeypatch):
    override_settings(monkeypatch, web={"key_cache_s": 60})
    path = "/me/payouts"
    call_embed_api(app, token, path)

    # only the list itself; the viewer is cached
    assert count_round_trips(lambda: call_embed_api(app, token, path)) <= 2
    assert count_round_trips(lambda: issue_token(brand, ben_id)) > 0
    assert count_round_trips(lambda: call_embed_api(app, token, path)) <= 2

    other = issue_token(brand, ben_id, rotate=True)
    assert call_embed_api(app, token, path).status_code == 401
    assert call_embed_api(app, other["token"], path).status_code == 200
    brand.call("DELETE", f"{TOKENS}/{other['id']}")
    assert call_embed_api(app, other["token"], path).status_code == 401
