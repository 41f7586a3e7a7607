"""Sessions from an identity provider: refreshed claims take effect, and money needs a fresh login there."""

import time
from urllib.parse import parse_qs, urlsplit

import pytest

from adapters import http_calls
from adapters.secret_key import sealing
from models import db
from pipelines.organization import provider_sessions
from tests.support.settings_overrides import override_settings


@pytest.fixture
def ada(visitor, provider):
    provider.sign_in(visitor)
    return visitor


def _age_session(provider, minutes):
    """Move the last refresh of the person's session into the past by so many minutes."""
    statement = "update web_session set {} where subject = %s".format(
        ", ".join(f"{name} = {name} - interval '{minutes} minutes'" for name in ("refreshed_at", "refresh_from"))
    )
    with db.any_org_work():
        db.db.run(statement + " returning 1", (provider.person["sub"],))


def _role_or_status(visitor):
    page = visitor.open("/dashboard")
    if page.status_code != 200:
        return page.status_code
    return next(role for role in ("Owner", "Admin", "Manager", "Viewer") if f">{role}<" in page.text)


def test_provider_is_not_requested_for_15_minutes(ada, provider):
    _age_session(provider, 14)

    assert (_role_or_status(ada), provider.refreshes) == ("Owner", 0)


def test_role_changed_at_the_provider_takes_effect(ada, provider):
    provider.person["role"] = "Viewer"
    assert _role_or_status(ada) == "Owner"
    _age_session(provider, 16)

    assert _role_or_status(ada) == "Viewer"
    assert (_role_or_status(ada), provider.refreshes) == ("Viewer", 1)


def test_each_refresh_token_is_used_once(ada, provider):
    for _ in range(3):
        _age_session(provider, 16)
        assert _role_or_status(ada) == "Owner"

    assert provider.refreshes == 3


@pytest.mark.parametrize(
    "changed",
    [{"sub": "somebody else"}, {"org_id": ...}, {"role": "Emperor"}, {"aud": "another"}, {"iss": "https://x.example"}],
    ids=str,
)
def test_person_refused_by_the_provider_is_signed_out_for_good(ada, provider, brand, changed):
    provider.claim_changes = changed
    _age_session(provider, 16)
    assert _role_or_status(ada) == 303
    provider.claim_changes = {}

    assert _role_or_status(ada) == 303
    ended_by = brand.rows("select after ->> 'by' from audit_entry where action = 'session.ended'")
    assert ended_by == [("provider",)]


def test_revoked_refresh_token_ends_the_session(ada, provider):
    provider._refresh_tokens.clear()
    _age_session(provider, 16)

    assert _role_or_status(ada) == 303


def test_operator_without_the_claim_is_signed_out(visitor, provider):
    provider.person = {"sub": "an operator", "groups": "run-it"}
    provider.sign_in(visitor, "/sign-in/with/operator")
    assert visitor.open("/console").status_code == 200
    provider.person = {"sub": "an operator"}
    _age_session(provider, 16)

    assert visitor.open("/console").status_code == 303


def test_missing_refresh_token_redirects_through_the_provider(visitor, provider):
    provider.discovery_changes = {"scopes_supported": ["openid"]}
    provider.sign_in(visitor)
    assert _role_or_status(visitor) == "Owner"
    provider.person["role"] = "Viewer"
    _age_session(provider, 16)

    redirect = visitor.open("/dashboard/payouts?status=Paid")
    assert redirect.headers["Location"] == "/sign-in/with/dashboard?next=%2Fdashboard%2Fpayouts%3Fstatus%3DPaid"
    assert visitor.open("/dashboard", HX_Request="true").status_code == 200  # requests of live parts are not redirected
    assert visitor.send("/theme", {"theme": "dark"}).headers["Location"] == "/sign-in"

    assert (
        provider.sign_in(visitor, redirect.headers["Location"]).headers["Location"] == "/dashboard/payouts?status=Paid"
    )
    assert _role_or_status(visitor) == "Viewer"


def test_claims_without_refresh_token_hold_for_an_hour(visitor, provider):
    provider.discovery_changes = {"scopes_supported": ["openid"]}
    provider.sign_in(visitor)
    for minutes, status in ((59, 400), (2, 303)):  # 400: the form is empty; 303: the session has ended
        _age_session(provider, minutes)
        assert visitor.send("/dashboard/programs/new", {"_key": f"k{minutes}"}).status_code == status


def test_unreachable_provider_is_tolerated_for_an_hour(ada, provider):
    provider.is_away = True
    _age_session(provider, 40)
    assert _role_or_status(ada) == "Owner"
    provider.is_away = False
    provider.person["role"] = "Admin"
    _age_session(provider, 2)
    assert _role_or_status(ada) == "Admin"

    provider.is_away = True
    _age_session(provider, 61)
    assert _role_or_status(ada) == 303


def test_internal_provider_error_ends_no_session(ada, provider, monkeypatch):
    override_settings(monkeypatch, identity=provider.build_settings(secret="one that has run out"))
    _age_session(provider, 40)

    assert _role_or_status(ada) == "Owner"


def test_session_ended_during_a_refresh_stays_ended(ada, provider, monkeypatch):
    refresh = provider_sessions.oidc.refresh

    def end_session_and_refresh(*arguments):
        with db.any_org_work():
            db.db.run("delete from web_session where subject = %s returning 1", (provider.person["sub"],))
        return refresh(*arguments)

    monkeypatch.setattr(provider_sessions.oidc, "refresh", end_session_and_refresh)
    _age_session(provider, 16)

    assert _role_or_status(ada) == 303


def test_provider_is_asked_outside_of_every_transaction(visitor, provider, monkeypatch):
    call, in_transaction = http_calls.call, []

    def record_and_call(*arguments, **options):
        in_transaction.append(db.in_transaction())
        return call(*arguments, **options)

    monkeypatch.setattr(http_calls, "call", record_and_call)
    provider.sign_in(visitor)
    _age_session(provider, 16)

    assert (_role_or_status(visitor), in_transaction) == ("Owner", [False] * 3)


def test_refresh_without_id_token_redirects_through_the_provider(ada, provider, monkeypatch):
    """OpenID Connect Core, section 12.2: a refresh may return no ID token."""
    with monkeypatch.context() as patched:
        patched.setattr(provider, "sign", lambda _: None)
        _age_session(provider, 16)
        redirects = [ada.open("/dashboard").headers["Location"] for _ in range(2)]
    assert redirects == ["/sign-in/with/dashboard?next=%2Fdashboard"] * 2
    assert provider.refreshes == 1

    assert provider.sign_in(ada, redirects[0]).headers["Location"] == "/dashboard"
    assert _role_or_status(ada) == "Owner"


def test_concurrent_requests_refresh_once(ada, provider, monkeypatch):
    roles = []
    refresh = provider_sessions.oidc.refresh

    def request_and_refresh(*arguments):
        roles.append(_role_or_status(ada))
        return refresh(*arguments)

    monkeypatch.setattr(provider_sessions.oidc, "refresh", request_and_refresh)
    _age_session(provider, 16)

    assert (_role_or_status(ada), roles, provider.refreshes) == ("Owner", ["Owner"], 1)


def test_disabled_provider_ends_its_sessions(ada, provider, monkeypatch):
    override_settings(monkeypatch, identity={"dashboard_client_id": None})

    assert _role_or_status(ada) == 303


def test_owner_link_is_refused_while_a_provider_is_configured(visitor, provider, flask, brand):
    assert flask("sign-in", "owner", "--org", brand.id)[0] == 1
    visitor.open(flask.json("sign-in", "operator")["url"])
    assert visitor.open("/console").status_code == 200


def _create_key(visitor):
    return visitor.send("/dashboard/api-keys", {"name": "for the shop", "scope": "read", "_key": "once"})


def test_fresh_login_is_requested_from_the_provider(ada, provider):
    """A silent login does not count: `auth_time` says when the person really logged in."""
    provider.logged_in_at -= 7200
    provider.sign_in(ada)
    redirect = _create_key(ada)
    assert (redirect.status_code, redirect.headers["Location"].partition("?")[0]) == (303, "/sign-in")
    page = ada.open(redirect.headers["Location"]).text
    assert "Sign in again to continue" in page
    (address,) = [part.partition('"')[0] for part in page.split('href="') if part.startswith("/sign-in/with/dashboard")]

    provider_url = ada.open(address.replace("&amp;", "&")).headers["Location"]
    query = parse_qs(urlsplit(provider_url).query)
    assert (query["prompt"], query["max_age"]) == (["login"], ["0"])
    answer = ada.open(provider.log_in(provider_url))
    assert answer.headers["Location"].partition("?")[0] == "/dashboard/api-keys"
    assert "for the shop" in ada.open(answer.headers["Location"]).text
    assert _create_key(ada).status_code in (200, 201)


def test_provider_without_a_fresh_login_is_refused(ada, provider):
    before = ada.cookie
    for changed in ({"auth_time": int(time.time()) - 60}, {"auth_time": ...}, {"auth_time": "now"}):
        provider.claim_changes = changed
        answer = provider.sign_in(ada, "/sign-in/with/dashboard?again=1")
        assert answer.status_code == 403
        assert "This needs a new login" in answer.text
        assert ada.cookie == before


@pytest.mark.parametrize("auth_time", [..., "now", True, -1, 1e300, None, 1_700_000_000])
def test_login_without_auth_time_is_not_fresh(visitor, provider, auth_time):
    """OpenID Connect Core, section 2: auth_time is optional unless max_age was requested."""
    provider.claim_changes = {"auth_time": auth_time}

    assert provider.sign_in(visitor).headers["Location"] == "/dashboard"
    assert _role_or_status(visitor) == "Owner"
    assert _create_key(visitor).headers["Location"].startswith("/sign-in?")


def test_operator_freshness_and_name_come_from_the_provider(visitor, provider, brand):
    verified = {"email": f"nora-{brand.id.hex}@ops.example", "email_verified": True}
    unverified = verified | {"email_verified": False}
    subject = f"nora-{brand.id.hex}"
    for claims, auth_time, expected_name in (
        (verified, ..., None),
        (verified, None, verified["email"]),
        (unverified, None, subject),
    ):
        provider.person = {"sub": subject, "groups": ["run-it"]} | claims
        provider.claim_changes = {"auth_time": auth_time} if auth_time is ... else {}
        provider.sign_in(visitor, "/sign-in/with/operator")
        form = {"setting": "fraudScore", "value": "7", "why": "chargebacks", "_key": f"{brand.id.hex}-{expected_name}"}
        answer = visitor.send(f"/console/tenants/{brand.id}", form)
        if expected_name is None:
            assert answer.headers["Location"].startswith("/sign-in?")
            continue
        assert answer.status_code != 403
        entries = "select actor_label from audit_entry where actor_type = 'operator' and entity_type <> 'session'"
        assert brand.rows(f"{entries} order by created_at, id")[-1:] == [(expected_name,)]


def test_refresh_token_belongs_to_its_session(ada, provider):
    with db.any_org_work():
        ((id_hash, sealed_token),) = db.db.run(
            "select id_hash, refresh_sealed from web_session where subject = %s", (provider.person["sub"],)
        )

    assert sealing.unseal(bytes(sealed_token), belongs_to=bytes(id_hash).hex()) in provider._refresh_tokens
    with pytest.raises(sealing.CannotUnseal):
        sealing.unseal(bytes(sealed_token), belongs_to="0" * 64)
