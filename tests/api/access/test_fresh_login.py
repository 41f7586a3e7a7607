"""Moving money and managing API keys require a login within the last hour. Source: core spec, section 5."""

import json
import time

import pytest

from adapters.identity import tokens
from tests.support.api.payouts import UNKNOWN_ID
from tests.support.outside import identity_provider as idp
from tests.support.rows.brands import Brand
from tests.support.settings_overrides import override_settings
from tests.support.switches.switch_states import TO_CONFIRM, insert_switch

_HOUR_S = 3600
_STALE = (403, "fresh_login_required")
_MONEY = [
    ("POST", "/api/v1/payouts/run", {"confirmTotalCents": 1}),
    ("POST", f"/api/v1/payouts/{UNKNOWN_ID}/retry", {}),
    ("POST", f"/api/v1/payouts/{UNKNOWN_ID}/void", {}),
    ("POST", f"/api/v1/payouts/{UNKNOWN_ID}/mark-paid", {"externalTransactionId": "b 1"}),
    ("POST", f"/api/v1/deals/{UNKNOWN_ID}/fund", {}),
    ("POST", "/api/v1/api-keys", {}),
    ("POST", f"/api/v1/api-keys/{UNKNOWN_ID}/rotate", {}),
    ("DELETE", f"/api/v1/api-keys/{UNKNOWN_ID}", None),
    ("PATCH", "/api/organizations/me", {"automaticPayoutEnabled": True}),
]


@pytest.fixture
def brand_with_claims(brand, monkeypatch, tmp_path):
    """Return a function that returns the brand with a token that an identity provider issued with given claims."""
    path = tmp_path / "jwks.json"
    path.write_text(json.dumps({"keys": [idp.public_jwk(idp.private_key("EdDSA"))]}))
    provider = {"dashboard_issuer": idp.ISSUER, "dashboard_jwks": str(path), "dashboard_audience": idp.AUDIENCE}
    override_settings(monkeypatch, identity=provider)
    tokens.clear_caches()

    def create_caller(role="Owner", **claims):
        own_claims = {"org_id": str(brand.id), "role": role, "email": "ada@example.com", "email_verified": True}
        body = idp.build_claims(**own_claims | {"sid": "a session"} | claims)
        return Brand(brand.app, brand.id, idp.sign_token(idp.private_key("EdDSA"), body), "")

    yield create_caller
    monkeypatch.undo()
    tokens.clear_caches()


def _seconds_ago(seconds):
    return int(time.time()) - seconds


def _refusal(answer):
    return answer.status_code, (answer.get_json(silent=True) or {}).get("error")


@pytest.mark.parametrize(("method", "path", "body"), _MONEY)
def test_login_older_than_an_hour_cannot_move_money(brand_with_claims, method, path, body):
    person = brand_with_claims(auth_time=_seconds_ago(_HOUR_S + 60))

    assert _refusal(person.call(method, path, body)) == _STALE


@pytest.mark.parametrize(("unpaid", "expected"), [("payable", _STALE), ("history", (202, None))])
def test_login_older_than_an_hour_cannot_make_commissions_of_a_switch_payable(
    brand, brand_with_claims, unpaid, expected
):
    person = brand_with_claims(auth_time=_seconds_ago(_HOUR_S + 60))
    switch_id = insert_switch(brand, "Ready", options={"unpaid": unpaid})

    answer = person.post(f"/api/v1/switches/{switch_id}/run", {"confirm": TO_CONFIRM})

    assert _refusal(answer) == expected


@pytest.mark.parametrize(("method", "path", "body"), _MONEY)
def test_login_within_the_hour_can_move_money(brand_with_claims, method, path, body):
    answer = brand_with_claims(auth_time=_seconds_ago(_HOUR_S - 60)).call(method, path, body)

    assert answer.status_code != 401
    assert _refusal(answer) != _STALE


@pytest.mark.parametrize(
    ("claims", "is_fresh"),
    [
        ({"auth_time": -7200, "iat": -10}, False),  # a refreshed token is not a login
        ({"auth_time": -10, "iat": -7200}, True),
        ({"iat": -7200}, False),
        ({"iat": -10}, True),
        ({"iat": ...}, True),  # no time of login or issue is known
        ({"auth_time": "yesterday", "iat": -7200}, False),
        ({"auth_time": True, "iat": -7200}, False),
        ({"auth_time": 10**30, "iat": -7200}, False),
    ],
    ids=str,
)
def test_login_time_counts_else_issue_time(brand_with_claims, claims, is_fresh):
    at = {
        name: _seconds_ago(-value) if isinstance(value, int) and value < 0 else value for name, value in claims.items()
    }
    answer = brand_with_claims(**at).post("/api/v1/api-keys")

    assert (answer.status_code == 201) is is_fresh
    assert is_fresh or _refusal(answer) == _STALE


def test_reads_and_harmless_writes_need_no_fresh_login(brand_with_claims):
    person = brand_with_claims(auth_time=_seconds_ago(100 * _HOUR_S))

    assert person.get("/api/v1/api-keys").status_code == 200
    assert person.get("/api/v1/payouts").status_code == 200
    assert person.call("PATCH", "/api/organizations/me", {"name": "Renamed"}).status_code == 200


def test_missing_permission_is_reported_before_stale_login(brand_with_claims):
    stale = {"auth_time": _seconds_ago(_HOUR_S + 60)}
    run = ("/api/v1/payouts/run", {"confirmTotalCents": 1})

    assert _refusal(brand_with_claims("Viewer", **stale).post(*run)) == (403, "forbidden")
    assert _refusal(brand_with_claims(**stale, sid=...).post(*run)) == (403, "interactive_session_required")


@pytest.fixture
def affiliate(app, monkeypatch, tmp_path):
    """Return a function that sends a request as an affiliate whose token has the given claims."""
    path = tmp_path / "jwks.json"
    path.write_text(json.dumps({"keys": [idp.public_jwk(idp.private_key("EdDSA"))]}))
    provider = {"affiliate_issuer": idp.ISSUER, "affiliate_jwks": str(path), "affiliate_audience": idp.AUDIENCE}
    override_settings(monkeypatch, identity=provider)
    tokens.clear_caches()

    def call(method, body=None, is_verified=True, **claims):
        token_claims = idp.build_claims(email="rita-of-an-hour@example.com", email_verified=is_verified, **claims)
        headers = {"Authorization": f"Bearer {idp.sign_token(idp.private_key('EdDSA'), token_claims)}"}
        return app.test_client().open("/api/me/payout-account", method=method, json=body, headers=headers)

    yield call
    monkeypatch.undo()
    tokens.clear_caches()


def test_payout_account_change_requires_fresh_login(affiliate):
    wallet = {"method": "Wallet", "walletEmail": "rita@example.com"}
    stale, fresh = {"auth_time": _seconds_ago(_HOUR_S + 60)}, {"auth_time": _seconds_ago(_HOUR_S - 60)}

    assert _refusal(affiliate("PUT", wallet, **stale)) == _STALE
    assert affiliate("GET", **stale).json["method"] is None
    assert _refusal(affiliate("PUT", wallet, is_verified=False, **stale)) == (403, "email_verification_required")
    assert affiliate("PUT", wallet, **fresh).json["walletEmail"] == "rita@example.com"


def test_openapi_document_states_fresh_login(app):
    operation = app.test_client().get("/api/openapi.json").json["paths"]["/api/v1/api-keys"]["post"]

    assert operation["x-fresh-login-s"] == _HOUR_S
    assert "fresh_login_required" in operation["responses"]["403"]["x-codes"]
