"""Money, and keys that speak for an organization, want a login of the last hour. Source: core spec, section 5."""

import json
import time

import pytest

from adapters.identity import tokens
from tests.support.api.payouts import NOBODY
from tests.support.outside import identity_provider as idp
from tests.support.rows.brands import Brand
from tests.support.settings_overrides import override_settings

_HOUR_S = 3600
_STALE = (403, "fresh_login_required")
_MONEY = [
    ("POST", "/api/v1/payouts/run", {"confirmTotalCents": 1}),
    ("POST", f"/api/v1/payouts/{NOBODY}/retry", {}),
    ("POST", f"/api/v1/payouts/{NOBODY}/void", {}),
    ("POST", f"/api/v1/payouts/{NOBODY}/mark-paid", {"externalTransactionId": "b 1"}),
    ("POST", f"/api/v1/deals/{NOBODY}/fund", {}),
    ("POST", "/api/v1/api-keys", {}),
    ("POST", f"/api/v1/api-keys/{NOBODY}/rotate", {}),
    ("DELETE", f"/api/v1/api-keys/{NOBODY}", None),
    ("PATCH", "/api/organizations/me", {"automaticPayoutEnabled": True}),
]


@pytest.fixture
def logged_in(brand, monkeypatch, tmp_path):
    """What returns the brand through a token that an identity provider issued with these claims."""
    path = tmp_path / "jwks.json"
    path.write_text(json.dumps({"keys": [idp.public(idp.key("EdDSA"))]}))
    provider = {"dashboard_issuer": idp.ISSUER, "dashboard_jwks": str(path), "dashboard_audience": idp.AUDIENCE}
    override_settings(monkeypatch, identity=provider)
    tokens.clear_caches()

    def through(role="Owner", **claims):
        of_ours = {"org_id": str(brand.id), "role": role, "email": "ada@example.com", "email_verified": True}
        body = idp.claims(**of_ours | {"sid": "a session"} | claims)
        return Brand(brand.app, brand.id, idp.token(idp.key("EdDSA"), body), "")

    yield through
    monkeypatch.undo()
    tokens.clear_caches()


def _ago(seconds):
    return int(time.time()) - seconds


def _refusal(answer):
    return answer.status_code, (answer.get_json(silent=True) or {}).get("error")


@pytest.mark.parametrize(("method", "path", "body"), _MONEY)
def test_a_login_of_more_than_an_hour_ago_moves_no_money(logged_in, method, path, body):
    person = logged_in(auth_time=_ago(_HOUR_S + 60))

    assert _refusal(person.call(method, path, body)) == _STALE


@pytest.mark.parametrize(("method", "path", "body"), _MONEY)
def test_a_login_within_the_hour_does(logged_in, method, path, body):
    answer = logged_in(auth_time=_ago(_HOUR_S - 60)).call(method, path, body)

    assert answer.status_code != 401
    assert _refusal(answer) != _STALE


@pytest.mark.parametrize(
    ("claims", "is_fresh"),
    [
        ({"auth_time": -7200, "iat": -10}, False),  # a token that was refreshed since is no login
        ({"auth_time": -10, "iat": -7200}, True),
        ({"iat": -7200}, False),
        ({"iat": -10}, True),
        ({"iat": ...}, True),  # nobody says when that was
        ({"auth_time": "yesterday", "iat": -7200}, False),
        ({"auth_time": True, "iat": -7200}, False),
        ({"auth_time": 10**30, "iat": -7200}, False),
    ],
    ids=str,
)
def test_what_counts_is_the_login_and_else_when_the_token_was_issued(logged_in, claims, is_fresh):
    at = {name: _ago(-value) if isinstance(value, int) and value < 0 else value for name, value in claims.items()}
    answer = logged_in(**at).post("/api/v1/api-keys")

    assert (answer.status_code == 201) is is_fresh
    assert is_fresh or _refusal(answer) == _STALE


def test_reading_and_what_moves_no_money_needs_no_new_login(logged_in):
    person = logged_in(auth_time=_ago(100 * _HOUR_S))

    assert person.get("/api/v1/api-keys").status_code == 200
    assert person.get("/api/v1/payouts").status_code == 200
    assert person.call("PATCH", "/api/organizations/me", {"name": "Renamed"}).status_code == 200


def test_nobody_logs_in_again_to_hear_that_they_may_not(logged_in):
    stale = {"auth_time": _ago(_HOUR_S + 60)}
    run = ("/api/v1/payouts/run", {"confirmTotalCents": 1})

    assert _refusal(logged_in("Viewer", **stale).post(*run)) == (403, "forbidden")
    assert _refusal(logged_in(**stale, sid=...).post(*run)) == (403, "interactive_session_required")


@pytest.fixture
def affiliate(app, monkeypatch, tmp_path):
    """What calls as an affiliate whose identity provider issued a token with these claims."""
    path = tmp_path / "jwks.json"
    path.write_text(json.dumps({"keys": [idp.public(idp.key("EdDSA"))]}))
    provider = {"affiliate_issuer": idp.ISSUER, "affiliate_jwks": str(path), "affiliate_audience": idp.AUDIENCE}
    override_settings(monkeypatch, identity=provider)
    tokens.clear_caches()

    def call(method, body=None, is_verified=True, **claims):
        said = idp.claims(email="rita-of-an-hour@example.com", email_verified=is_verified, **claims)
        headers = {"Authorization": f"Bearer {idp.token(idp.key('EdDSA'), said)}"}
        return app.test_client().open("/api/me/payout-account", method=method, json=body, headers=headers)

    yield call
    monkeypatch.undo()
    tokens.clear_caches()


def test_where_an_affiliate_is_paid_is_changed_after_a_login_of_the_last_hour(affiliate):
    wallet = {"method": "Wallet", "walletEmail": "rita@example.com"}
    stale, fresh = {"auth_time": _ago(_HOUR_S + 60)}, {"auth_time": _ago(_HOUR_S - 60)}

    assert _refusal(affiliate("PUT", wallet, **stale)) == _STALE
    assert affiliate("GET", **stale).json["method"] is None
    assert _refusal(affiliate("PUT", wallet, is_verified=False, **stale)) == (403, "email_verification_required")
    assert affiliate("PUT", wallet, **fresh).json["walletEmail"] == "rita@example.com"


def test_the_description_says_so(app):
    told = app.test_client().get("/api/openapi.json").json["paths"]["/api/v1/api-keys"]["post"]

    assert told["x-fresh-login-s"] == _HOUR_S
    assert "fresh_login_required" in told["responses"]["403"]["x-codes"]
