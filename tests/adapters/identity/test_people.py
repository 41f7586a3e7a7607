"""Who a verified token speaks for, tokens of the local issuer, and the settings of both providers."""

import json
import time
from uuid import UUID

import pytest

import settings
from adapters.identity import tokens as identity
from tests.support.outside import identity_provider as idp

_SECRET_KEY = "another key that is long enough to be one"
_ORGANIZATION = "0198a2c4-5b1e-7c3d-9f00-1234567890ab"
_LEEWAY_S = 30


@pytest.fixture
def configured(monkeypatch):
    """Return a function that sets variables and starts over."""

    def configure(**variables: str) -> None:
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        settings.current.cache_clear()
        identity.clear_caches()

    configure(
        **{f"{kind}_JWT_{name}": "" for kind in ("DASHBOARD", "AFFILIATE") for name in ("ISSUER", "AUDIENCE", "JWKS")}
    )
    yield configure
    monkeypatch.undo()
    settings.current.cache_clear()
    identity.clear_caches()


@pytest.fixture
def provider(configured, tmp_path):
    """Configure one provider for both kinds of people, with a key of each type in a file."""
    path = tmp_path / "jwks.json"
    path.write_text(json.dumps({"keys": [idp.public(idp.key(alg)) for alg in ("RS256", "ES256", "EdDSA")]}))
    configured(
        DASHBOARD_JWT_ISSUER=idp.ISSUER,
        DASHBOARD_JWT_JWKS=str(path),
        DASHBOARD_JWT_AUDIENCE=idp.AUDIENCE,
        AFFILIATE_JWT_ISSUER=idp.ISSUER,
        AFFILIATE_JWT_JWKS=str(path),
    )


def _dashboard(**changes) -> identity.Claims | None:
    member = {"org_id": _ORGANIZATION, "role": "Admin", "email": "ann@example.com", "email_verified": True, "sid": "s"}
    return identity.verify_dashboard(idp.token(idp.key("EdDSA"), idp.claims(**{**member, **changes})))


def _affiliate(**changes) -> identity.Claims | None:
    person = {"aud": "finderfee-affiliates", "email": "ben@example.com", "email_verified": True}
    return identity.verify_affiliate(idp.token(idp.key("EdDSA"), idp.claims(**{**person, **changes})))


def test_a_dashboard_token_says_who_it_is(provider):
    assert _dashboard(exp=4_000_000_000, iat=1_700_000_000) == identity.Claims(
        subject="user-1",
        email="ann@example.com",
        is_email_verified=True,
        expires_at_s=4_000_000_000,
        organization_id=UUID(_ORGANIZATION),
        role="Admin",
        session_id="s",
        signed_in_at_s=1_700_000_000,
    )


@pytest.mark.parametrize("role", ["Owner", "Admin", "Manager", "Viewer"])
def test_each_role_is_taken(provider, role):
    assert _dashboard(role=role).role == role


@pytest.mark.parametrize("role", ["owner", "Owner ", "", "Root", None, ["Owner"], {"Owner": 1}, 7, True, ...])
def test_a_dashboard_token_without_a_role_of_ours_is_refused(provider, role):
    assert _dashboard(role=role) is None


@pytest.mark.parametrize(
    "organization",
    ["", "x", _ORGANIZATION[:-1], f"{{{_ORGANIZATION}}}", f"urn:uuid:{_ORGANIZATION}", _ORGANIZATION.replace("-", ""),
     f" {_ORGANIZATION}", 7, None, [_ORGANIZATION], ...],
)  # fmt: skip
def test_a_dashboard_token_without_an_organization_is_refused(provider, organization):
    assert _dashboard(org_id=organization) is None


def test_an_organization_in_capitals_is_the_same(provider):
    assert _dashboard(org_id=_ORGANIZATION.upper()).organization_id == UUID(_ORGANIZATION)


@pytest.mark.parametrize(
    ("sid", "kept"),
    [
        ("s" * 255, "s" * 255),
        ("s" * 256, None),
        ("", None),
        ("a\0", None),
        (7, None),
        (True, None),
        (None, None),
        (..., None),
    ],
)
def test_a_session_is_interactive_only_when_it_has_a_name(provider, sid, kept):
    assert _dashboard(sid=sid).session_id == kept


@pytest.mark.parametrize("read", [_dashboard, _affiliate])
@pytest.mark.parametrize("sub", ["", "a\0b", "x" * 256, None, 7, ["a"], ...])
def test_a_token_without_a_subject_is_refused(provider, read, sub):
    assert read(sub=sub) is None


@pytest.mark.parametrize("read", [_dashboard, _affiliate])
@pytest.mark.parametrize("sub", ["x", "é" * 255, "auth0|1 2"])
def test_a_subject_is_kept_as_it_is(provider, read, sub):
    assert read(sub=sub).subject == sub


@pytest.mark.parametrize("read", [_dashboard, _affiliate])
@pytest.mark.parametrize("verified", ["true", "True", 1, "1", [True], {}, None, False, ...])
def test_an_email_counts_as_verified_only_when_that_is_true(provider, read, verified):
    assert read(email_verified=verified).is_email_verified is False


@pytest.mark.parametrize("read", [_dashboard, _affiliate])
def test_an_email_is_trimmed_and_in_lower_case(provider, read):
    found = read(email=" Ünn@Example.COM ")

    assert (found.email, found.is_email_verified) == ("ünn@example.com", True)


@pytest.mark.parametrize("read", [_dashboard, _affiliate])
@pytest.mark.parametrize(
    "email",
    ["", "  ", "a\0@example.com", "a@example.com\n", "a\x85@example.com", "\u212aim@example.com",
     "x" * 309 + "@example.com", 7, None, ["a@b.c"], ...],
)  # fmt: skip
def test_an_email_that_cannot_be_one_is_none_and_not_verified(provider, read, email):
    found = read(email=email)

    assert (found.email, found.is_email_verified) == ("", False)


def test_an_email_may_have_320_characters(provider):
    email = "x" * 308 + "@example.com"

    assert (_affiliate(email=email).email, _affiliate(email=email).is_email_verified) == (email, True)


def test_an_affiliate_token_says_who_it_is_and_nothing_of_a_dashboard(provider):
    found = _affiliate(exp=4_000_000_000, iat=..., org_id=_ORGANIZATION, role="Owner", sid="s")

    assert found == identity.Claims("user-1", "ben@example.com", True, 4_000_000_000, None, None, None)


@pytest.mark.parametrize("audience", ["finderfee-affiliates", ["finderfee-affiliates", idp.AUDIENCE]])
def test_an_affiliate_token_of_the_same_provider_is_no_dashboard_token(provider, audience):
    assert _dashboard(aud=audience) is None


@pytest.mark.parametrize("audience", [idp.AUDIENCE, [idp.AUDIENCE, "finderfee-affiliates"]])
def test_a_dashboard_token_of_the_same_provider_is_no_affiliate_token(provider, audience):
    assert _affiliate(aud=audience) is None


def test_an_audience_within_the_others_name_is_another(configured, tmp_path):
    path = tmp_path / "jwks.json"
    path.write_text(json.dumps({"keys": [idp.public(idp.key("EdDSA"))]}))
    configured(
        DASHBOARD_JWT_ISSUER=idp.ISSUER, DASHBOARD_JWT_JWKS=str(path), DASHBOARD_JWT_AUDIENCE="app",
        AFFILIATE_JWT_ISSUER=idp.ISSUER, AFFILIATE_JWT_JWKS=str(path), AFFILIATE_JWT_AUDIENCE="app-affiliates",
    )  # fmt: skip

    assert _affiliate(aud="app-affiliates")
    assert _dashboard(aud="app")
    assert _affiliate(aud="app") is None
    assert _dashboard(aud="app-affiliates") is None


def _member(**changes) -> str:
    good = {"organization_id": UUID(_ORGANIZATION), "role": "Owner", "email": "Ann@Example.com ", "ttl_s": 60}
    return identity.issue_dashboard(**{"is_email_verified": True, **good, **changes})


def test_without_an_issuer_a_dashboard_token_is_ours(configured):
    before = int(time.time())
    found = identity.verify_dashboard(_member())

    assert (found.subject, found.email, found.is_email_verified) == ("local:ann@example.com", "ann@example.com", True)
    assert (found.organization_id, found.role) == (UUID(_ORGANIZATION), "Owner")
    assert before + 60 <= found.expires_at_s <= int(time.time()) + 60
    assert found.session_id


def test_a_token_that_is_not_interactive_has_no_session(configured):
    assert identity.verify_dashboard(_member(is_interactive=False)).session_id is None


def test_a_token_with_an_unverified_email_says_so(configured):
    affiliate = identity.issue_affiliate(email="a@example.com", is_email_verified=False, ttl_s=60)

    assert identity.verify_dashboard(_member(is_email_verified=False)).is_email_verified is False
    assert identity.verify_affiliate(affiliate).is_email_verified is False


def test_the_same_email_is_the_same_affiliate(configured):
    tokens = [
        identity.issue_affiliate(email=email, is_email_verified=True, ttl_s=60) for email in ("B@x.io", " b@X.io")
    ]

    assert [identity.verify_affiliate(token).subject for token in tokens] == ["local:b@x.io", "local:b@x.io"]


def test_a_local_token_is_good_for_one_kind_only(configured):
    assert identity.verify_affiliate(_member()) is None
    assert identity.verify_dashboard(identity.issue_affiliate(email="a@x.io", is_email_verified=True, ttl_s=60)) is None


def test_each_kind_of_local_token_has_a_key_of_its_own(configured):
    affiliate = identity.issue_affiliate(email="a@x.io", is_email_verified=True, ttl_s=60)

    assert affiliate.split(".")[0] != _member().split(".")[0]  # the header names the key
    assert _member().split(".")[0] == _member().split(".")[0]


def test_a_local_token_expires(configured):
    assert identity.verify_dashboard(_member(ttl_s=-_LEEWAY_S - 1)) is None


def test_another_process_with_the_same_secret_key_agrees_and_one_with_another_does_not(configured):
    token = _member()
    identity.clear_caches()
    assert identity.verify_dashboard(token)

    configured(SECRET_KEY=_SECRET_KEY)
    assert identity.verify_dashboard(token) is None


def test_a_role_that_does_not_exist_is_not_issued(configured):
    with pytest.raises(ValueError, match="Root"):
        _member(role="Root")


def test_an_issuer_makes_the_local_tokens_of_its_kind_invalid_and_no_others(configured, tmp_path):
    token = _member()
    affiliate = identity.issue_affiliate(email="a@x.io", is_email_verified=True, ttl_s=60)
    path = tmp_path / "jwks.json"
    path.write_text('{"keys": []}')
    configured(DASHBOARD_JWT_ISSUER=idp.ISSUER, DASHBOARD_JWT_JWKS=str(path))

    assert identity.verify_dashboard(token) is None
    assert identity.verify_affiliate(affiliate)
    with pytest.raises(identity.NotLocal, match=idp.ISSUER):
        _member()
    assert identity.issue_affiliate(email="a@x.io", is_email_verified=True, ttl_s=60)


@pytest.mark.parametrize("kind", ["DASHBOARD", "AFFILIATE"])
def test_issuer_and_keys_go_together(kind):
    issuer, jwks = f"{kind}_JWT_ISSUER", f"{kind}_JWT_JWKS"

    with pytest.raises(settings.BadSetting, match=f"{issuer} is set without {jwks}"):
        settings.read({issuer: idp.ISSUER})
    with pytest.raises(settings.BadSetting, match=f"{jwks} is set without {issuer}"):
        settings.read({jwks: "keys.json"})


@pytest.mark.parametrize("kind", ["DASHBOARD", "AFFILIATE"])
def test_keys_come_from_the_web_or_a_file(kind):
    for good in ("https://id.example.com/jwks", "HTTP://id.example.com/jwks", "/etc/jwks.json", "jwks.json"):
        assert settings.read({f"{kind}_JWT_ISSUER": "i", f"{kind}_JWT_JWKS": good})
    with pytest.raises(settings.BadSetting, match="an https or http URL, or the path of a file"):
        settings.read({f"{kind}_JWT_ISSUER": "i", f"{kind}_JWT_JWKS": "ftp://id.example.com/jwks"})


def test_one_issuer_with_one_audience_for_both_is_refused():
    same = {"DASHBOARD_JWT_AUDIENCE": "a", "AFFILIATE_JWT_AUDIENCE": "a"}
    one = {"DASHBOARD_JWT_ISSUER": "i", "DASHBOARD_JWT_JWKS": "k", "AFFILIATE_JWT_JWKS": "k"}

    for variables in (same, {**same, **one, "AFFILIATE_JWT_ISSUER": "i"}):
        with pytest.raises(settings.BadSetting, match="the audiences must differ"):
            settings.read(variables)
    assert settings.read({**same, **one, "AFFILIATE_JWT_ISSUER": "j"})
