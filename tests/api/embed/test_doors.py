"""An embed token opens what it is for and nothing else, and nothing else opens that. Source: core spec, section 5."""

import re
from uuid import uuid4

import pytest

from tests.support.api.embed_tokens import TOKENS, call_embed_api, issue_token
from tests.support.api.lists import count_round_trips
from tests.support.rows.brands import Partner
from tests.support.rows.link_visits import create_limiter
from tests.support.settings_overrides import override_settings

_OWN = (("GET", "/me"), ("GET", "/me/series"), ("GET", "/me/conversions"), ("GET", "/me/payouts"), ("POST", "/links"))


@pytest.fixture
def ben(brand):
    """The id of an Approved affiliate of the brand."""
    brand.program()
    return brand.affiliate("ben")


@pytest.fixture
def token(brand, ben):
    """What Ben is shown by."""
    return issue_token(brand, ben)["token"]


def _answers(app, token, **headers):
    return [
        call_embed_api(app, token, path, method=method, body={} if method == "POST" else None, **headers)
        for method, path in _OWN
    ]


def _codes(app, token, **headers):
    return {answer.status_code for answer in _answers(app, token, **headers)}


def test_every_other_route_refuses_an_embed_token(app, token):
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


def test_every_embed_route_refuses_every_other_credential(app, brand, token, ben):
    email = brand.rows("select email from affiliate where id = %s", ben)[0][0]
    sent = {
        "a key": brand.api_key,
        "an owner": brand.person("Owner").api_key,
        "the affiliate": Partner(app, email).token,
        "nonsense": "nonsense",
        "nothing": "",
        "a changed one": token[:-1] + ("A" if token[-1] != "A" else "B"),
        "a longer one": f"{token}A",
        "other letters": "ff_emb_" + "é" * 64,
    }
    found = {name: _answers(app, value.encode().decode("latin-1")) for name, value in sent.items()}

    assert {name: {(one.status_code, one.data) for one in answers} for name, answers in found.items()} == {
        name: {(401, b"")} for name in sent
    }
    legacy = app.test_client().get("/api/v1/embed/me", headers={"X-Service-Api-Key": token})
    assert legacy.status_code == 401
    assert app.test_client().get(f"/api/v1/embed/me?token={token}").status_code == 401
    assert _codes(app, token) == {200, 201}


@pytest.mark.parametrize("status", ["Pending", "Rejected", "Paused", "Banned"])
def test_who_is_not_approved_any_more_sees_nothing(app, brand, ben, token, status):
    brand.call("PATCH", f"/api/v1/affiliates/{ben}", {"status": status})

    assert _codes(app, token) == {401}


def test_a_deleted_affiliate_sees_nothing(app, brand, ben, token):
    brand.rows("update affiliate set deleted_at = now() where id = %s returning id", ben)

    assert _codes(app, token) == {401}


def test_a_smaller_plan_shows_nothing(app, brand, token):
    brand.set(plan="Starter")

    answers = _answers(app, token)
    assert {(one.status_code, one.json["error"], one.json["current"]) for one in answers} == {
        (402, "plan_tier_required", "Starter")
    }


def test_a_page_of_another_origin_is_refused_whatever_it_says(app, token):
    assert _codes(app, token, Sec_Fetch_Site="same-origin") == {200, 201}
    for site in ("cross-site", "same-site", "none", "SAME-ORIGIN", ""):
        assert _codes(app, token, Sec_Fetch_Site=site) == {403}, site


@pytest.mark.parametrize("origin", ["https://app.acme.example", "http://127.0.0.1:8000", "null"])
def test_no_answer_has_a_word_for_other_origins(app, brand, token, origin):
    client = app.test_client()
    asks = {"Origin": origin, "Access-Control-Request-Method": "GET", "Access-Control-Request-Headers": "authorization"}
    answers = [
        *_answers(app, token, Origin=origin),
        client.options("/api/v1/embed/me", headers=asks),
        client.options("/api/v1/embed/tokens", headers=asks),
        brand.get("/api/v1/embed/tokens", Origin=origin),
    ]

    told = [name for answer in answers for name, _ in answer.headers if name.lower().startswith("access-control-")]
    assert told == []


def test_each_token_has_a_count_of_its_own(app, brand, ben, token, monkeypatch):
    other = issue_token(brand, brand.affiliate("eva"))["token"]
    monkeypatch.setitem(app.extensions, "limiter", create_limiter(embed=2))

    assert [call_embed_api(app, token, "/me").status_code for _ in range(3)] == [200, 200, 429]
    assert call_embed_api(app, other, "/me").status_code == 200


def test_no_answer_is_kept_by_anybody(app, token):
    assert {answer.headers["Cache-Control"] for answer in _answers(app, token)} == {"no-store"}


def test_a_forged_token_never_reaches_the_database(app, token, monkeypatch):
    monkeypatch.setattr("api.access.embed_viewers.db", None)

    assert _codes(app, token[:-1] + ("A" if token[-1] != "A" else "B")) == {401}


def test_who_it_is_is_remembered_for_a_while_and_forgotten_when_it_ends(app, brand, ben, token, monkeypatch):
    override_settings(monkeypatch, web={"key_cache_s": 60})
    path = "/me/payouts"
    call_embed_api(app, token, path)

    # the list itself, with who asks known
    assert count_round_trips(lambda: call_embed_api(app, token, path)) <= 2
    assert count_round_trips(lambda: issue_token(brand, ben)) > 0
    assert count_round_trips(lambda: call_embed_api(app, token, path)) <= 2

    other = issue_token(brand, ben, rotate=True)
    assert call_embed_api(app, token, path).status_code == 401
    assert call_embed_api(app, other["token"], path).status_code == 200
    brand.call("DELETE", f"{TOKENS}/{other['id']}")
    assert call_embed_api(app, other["token"], path).status_code == 401
