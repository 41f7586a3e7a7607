"""Signing in at an identity provider: the redirects there and back, and every answer that must not sign in."""

import base64
import hashlib
import time
from datetime import UTC, datetime
from urllib.parse import parse_qs, urlencode, urlsplit

import orjson
import pytest
from joserfc.jwk import OctKey

from models import db
from tests.support.outside import identity_provider as idp
from tests.support.outside.openid_provider import CLIENT, SECRET
from tests.support.outside.visitor import Visitor
from tests.support.settings_overrides import override_settings


def _start_sign_in(visitor, path="/sign-in/with/dashboard"):
    answer = visitor.open(path)
    assert answer.status_code == 303
    return answer.headers["Location"]


def _replace_query(url, **changes):
    """Return the path and query of an address with changed parameters; `...` removes one."""
    parameters = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()} | changes
    return f"{urlsplit(url).path}?{urlencode({name: value for name, value in parameters.items() if value is not ...})}"


def _assert_refused(visitor, answer, status=403):
    assert answer.status_code == status
    assert "<h1>Not signed in</h1>" in answer.text
    assert visitor.cookie is None


def test_owner_signs_in_to_the_dashboard(visitor, provider):
    page = visitor.open("/sign-in").text
    assert 'href="/sign-in/with/dashboard"' in page
    assert "Sign in with Acme ID" in page
    assert "flask sign-in owner" not in page

    answer = provider.sign_in(visitor)

    assert (answer.status_code, answer.headers["Location"]) == (303, "/dashboard")
    assert ">Owner<" in visitor.open("/dashboard").text


def test_request_is_the_code_flow_with_s256_and_no_secret(visitor, provider):
    address = _start_sign_in(visitor)
    query = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}

    assert address.startswith(f"{provider.issuer}/authorize?tenant=1&")
    assert (query["response_type"], query["client_id"], query["code_challenge_method"]) == ("code", CLIENT, "S256")
    assert query["redirect_uri"].endswith("/sign-in/callback")
    assert query["scope"].split() == ["openid", "email", "profile", "offline_access"]
    assert len(base64.urlsafe_b64decode(query["code_challenge"] + "=")) == hashlib.sha256().digest_size
    assert min(len(query["state"]), len(query["nonce"])) >= 43
    assert query.keys().isdisjoint({"prompt", "max_age", "client_secret", "code_verifier"})


@pytest.mark.parametrize("client", [{"client_id": "public-pages", "secret": None}, {}])
@pytest.mark.parametrize("methods", [["client_secret_post"], ["client_secret_basic"]])
def test_public_and_confidential_clients_sign_in(visitor, provider, monkeypatch, client, methods):
    override_settings(monkeypatch, identity=provider.build_settings(**client))
    provider.discovery_changes = {"token_endpoint_auth_methods_supported": methods}

    assert provider.sign_in(visitor).headers["Location"] == "/dashboard"


def test_wrong_secret_does_not_sign_in(visitor, provider, monkeypatch):
    override_settings(monkeypatch, identity=provider.build_settings(secret="another"))

    _assert_refused(visitor, provider.sign_in(visitor), 503)  # the fault is the client's configuration, not the person


def test_sign_in_returns_to_the_requested_page(visitor, provider):
    page = visitor.open("/sign-in?next=/dashboard/payouts?status=Paid").text
    assert 'href="/sign-in/with/dashboard?next=%2Fdashboard%2Fpayouts%3Fstatus%3DPaid"' in page

    answer = provider.sign_in(visitor, "/sign-in/with/dashboard?next=%2Fdashboard%2Fpayouts%3Fstatus%3DPaid")

    assert answer.headers["Location"] == "/dashboard/payouts?status=Paid"


@pytest.mark.parametrize(
    "foreign_page",
    ["https://evil.example", "//evil.example", "/\\evil.example", "/dashboard/..//evil.example", "/api/v1"],
)
def test_foreign_next_page_is_ignored(visitor, provider, foreign_page):
    answer = provider.sign_in(visitor, f"/sign-in/with/dashboard?{urlencode({'next': foreign_page})}")

    assert answer.headers["Location"] == "/dashboard"


@pytest.mark.parametrize(
    "changes",
    [
        {"state": "another"},
        {"state": ...},
        {"state": "\x00ü"},
        {"iss": "https://id.example.org"},
        {"iss": ...},
        {"code": "another"},
        {"code": ...},
        {"error": "access_denied"},
    ],
    ids=str,
)
def test_mismatched_answer_does_not_sign_in(visitor, provider, changes):
    return_url = provider.log_in(_start_sign_in(visitor))

    _assert_refused(visitor, visitor.open(_replace_query(return_url, **changes)))


def test_missing_iss_parameter_is_accepted_if_never_sent(visitor, provider):
    provider.discovery_changes = {"authorization_response_iss_parameter_supported": False}
    return_url = provider.log_in(_start_sign_in(visitor))

    assert visitor.open(_replace_query(return_url, iss=...)).headers["Location"] == "/dashboard"


@pytest.mark.parametrize(
    "changed",
    [
        {"nonce": "another"},
        {"nonce": ...},
        {"iss": "https://id.example.org"},
        {"aud": "another-client"},
        {"aud": [CLIENT, "another-client"]},
        {"aud": [CLIENT, "another-client"], "azp": "another-client"},
        {"azp": "another-client"},
        {"exp": 1_700_000_000},
        {"sub": ...},
        {"org_id": ...},
        {"org_id": "0190a0a0-0000-7000-8000-000000000000"},
        {"role": "Emperor"},
    ],
    ids=str,
)
def test_invalid_id_token_does_not_sign_in(visitor, provider, changed):
    provider.claim_changes = changed

    _assert_refused(visitor, provider.sign_in(visitor))


def _unsigned_token(body):
    return f"{idp.encode_base64url(orjson.dumps({'alg': 'none'}))}.{idp.encode_base64url(orjson.dumps(body))}."


_FORGERIES = {
    "no algorithm": _unsigned_token,
    "the client's secret": lambda body: idp.sign_token(OctKey.import_key(SECRET.encode()), body, alg="HS256", kid=...),
    "another's key": lambda body: idp.sign_token(idp.private_key("EdDSA", "another"), body, kid="EdDSA-one"),
    "no token": lambda _: "one.two.three",
    "very long": lambda _: "a" * 100_000,
    "no text": lambda _: {"sub": "ada"},
}


@pytest.mark.parametrize("forgery", _FORGERIES)
def test_id_token_with_a_foreign_signature_does_not_sign_in(visitor, provider, forgery):
    provider.sign = _FORGERIES[forgery]

    _assert_refused(visitor, provider.sign_in(visitor))


def test_id_token_of_several_audiences_is_accepted(visitor, provider):
    provider.claim_changes = {"aud": ["another-client", CLIENT], "azp": CLIENT}

    assert provider.sign_in(visitor).headers["Location"] == "/dashboard"


def _pending_sign_ins(visitor):
    """Return the cookies of the browser's unfinished sign-ins."""
    return {cookie.key: cookie.value for cookie in visitor.client._cookies.values() if "leaving" in cookie.key}


def test_code_signs_in_once(visitor, provider):
    answer_url = provider.log_in(_start_sign_in(visitor))
    ((name, cookie),) = _pending_sign_ins(visitor).items()
    assert visitor.open(answer_url).status_code == 303
    visitor.send("/sign-out")

    _assert_refused(visitor, visitor.open(answer_url))  # the browser's cookie of the sign-in is deleted
    visitor.client.set_cookie(name, cookie)
    _assert_refused(visitor, visitor.open(answer_url))  # with the cookie, the provider refuses the used code


def test_answer_in_another_browser_does_not_sign_in(app, visitor, provider):
    return_url = provider.log_in(_start_sign_in(visitor))
    other = Visitor(app)
    _start_sign_in(other)

    _assert_refused(other, other.open(return_url))
    assert visitor.open(return_url).status_code == 303


def test_sign_in_may_take_ten_minutes(visitor, provider, monkeypatch):
    for seconds, status in ((601, 403), (570, 303)):  # 570 instead of 600, for slow machines
        return_url = provider.log_in(_start_sign_in(visitor))
        with monkeypatch.context() as patched:
            later = datetime.fromtimestamp(time.time() + seconds, UTC)
            patched.setattr("api.provider_sign_in.clock.now", lambda at=later: at)
            assert visitor.open(return_url).status_code == status


@pytest.mark.parametrize("cookie", ["", "x", "A" * 200, "ü", "%00"])
def test_damaged_cookie_does_not_sign_in(visitor, provider, cookie):
    return_url = provider.log_in(_start_sign_in(visitor))
    (name,) = _pending_sign_ins(visitor)
    visitor.client.set_cookie(name, cookie)

    _assert_refused(visitor, visitor.open(return_url))


def test_pending_sign_in_cookie_is_sealed_and_httponly(visitor, provider):
    answer = visitor.open("/sign-in/with/dashboard")
    (cookie,) = answer.headers.getlist("Set-Cookie")
    state = parse_qs(urlsplit(answer.headers["Location"]).query)["state"][0]

    assert {"HttpOnly", "SameSite=Lax", "Max-Age=600"} <= {part.strip() for part in cookie.split(";")}
    assert state not in cookie


def test_unreachable_provider_shows_a_page(visitor, provider):
    return_url = provider.log_in(_start_sign_in(visitor))
    provider.is_away = True

    _assert_refused(visitor, visitor.open(return_url), 503)


def test_metadata_of_another_issuer_is_refused(visitor, provider):
    provider.discovery_changes = {"issuer": "https://id.example.org"}

    _assert_refused(visitor, visitor.open("/sign-in/with/dashboard"), 503)


@pytest.mark.parametrize("endpoint", ["authorization_endpoint", "token_endpoint"])
def test_plain_http_provider_is_refused(visitor, provider, endpoint):
    provider.discovery_changes = {endpoint: "http://id.example.org/x"}

    _assert_refused(visitor, visitor.open("/sign-in/with/dashboard"), 503)


def test_console_requires_the_operator_claim(visitor, provider):
    _assert_refused(visitor, provider.sign_in(visitor, "/sign-in/with/operator"))
    provider.person = {"sub": "op", "groups": ["others", "run-it-all"]}
    _assert_refused(visitor, provider.sign_in(visitor, "/sign-in/with/operator"))

    provider.person = {"sub": "op", "groups": ["others", "run-it"]}
    assert provider.sign_in(visitor, "/sign-in/with/operator").headers["Location"] == "/console"
    assert visitor.open("/console").status_code == 200
    assert visitor.open("/dashboard").status_code == 403


def test_affiliate_signs_in_at_their_own_provider(visitor, provider, brand, monkeypatch):
    override_settings(
        monkeypatch, identity=provider.build_settings("affiliate", client_id="public-portal", secret=None)
    )
    rita = f"rita-{brand.id.hex}"
    provider.person = {"sub": rita, "email": f"{rita}@example.com", "email_verified": True}
    page = visitor.open("/sign-in").text
    assert "Sign in with 127.0.0.1" in page
    assert "Send me a link" not in page

    assert provider.sign_in(visitor, "/sign-in/with/affiliate").headers["Location"] == "/portal"
    assert visitor.open("/portal").status_code == 200


@pytest.mark.parametrize("kind", ["affiliate", "member", "..", "%00"])
def test_missing_provider_returns_404(visitor, provider, kind):
    assert visitor.open(f"/sign-in/with/{kind}").status_code == 404


def test_previous_session_ends_and_both_are_audited(visitor, provider, brand):
    provider.sign_in(visitor)
    before = visitor.cookie
    provider.sign_in(visitor)
    assert visitor.cookie != before
    visitor.client.set_cookie("finderfee", before)
    assert visitor.open("/dashboard").status_code == 303

    entries = brand.rows("select action, actor_label, after ->> 'by' from audit_entry where entity_type = 'session'")
    email = provider.person["email"]
    began = ("session.began", email, "provider")
    assert sorted(entries) == [began, began, ("session.ended", email, "sign-in")]


def test_api_tokens_and_id_tokens_are_not_interchangeable(visitor, provider):
    provider.claim_changes = {"aud": "finderfee-dashboard"}
    _assert_refused(visitor, provider.sign_in(visitor))
    provider.claim_changes = {}

    id_token = idp.sign_token(
        idp.private_key("EdDSA"), idp.build_claims(iss=provider.issuer, aud=CLIENT, **provider.person)
    )
    answer = visitor.client.get("/api/v1/programs", headers={"Authorization": f"Bearer {id_token}"})
    assert answer.status_code == 401


def test_refresh_token_is_stored_sealed(visitor, provider):
    provider.sign_in(visitor)
    with db.any_org_work():
        ((text, sealed),) = db.db.run(
            "select s::text, refresh_sealed from web_session s where subject = %s", (provider.person["sub"],)
        )

    assert len(bytes(sealed)) > 12
    assert not any(token in text for token in provider._refresh_tokens)
