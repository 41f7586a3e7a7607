"""Claims of verified tokens, tokens of the local issuer, and the settings of both identity providers."""

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
def configure_identity(monkeypatch):
    """Return a function that sets variables and clears all caches."""

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
def provider(configure_identity, tmp_path):
    """Configure one provider for dashboard users and affiliates, with a key of each type in a file."""
    path = tmp_path / "jwks.json"
    path.write_text(json.dumps({"keys": [idp.public_jwk(idp.private_key(alg)) for alg in ("RS256", "ES256", "EdDSA")]}))
    configure_identity(
        DASHBOARD_JWT_ISSUER=idp.ISSUER,
        DASHBOARD_JWT_JWKS=str(path),
        DASHBOARD_JWT_AUDIENCE=idp.AUDIENCE,
        AFFILIATE_JWT_ISSUER=idp.ISSUER,
        AFFILIATE_JWT_JWKS=str(path),
    )


def _dashboard(**changes) -> identity.Claims | None:
    member = {"org_id": _ORGANIZATION, "role": "Admin", "email": "ann@example.com", "email_verified": True, "sid": "s"}
    return identity.verify_dashboard(
        idp.sign_token(idp.private_key("EdDSA"), idp.build_claims(**{**member, **changes}))
    )


def _affiliate(**changes) -> identity.Claims | None:
    person = {"aud": "finderfee-affiliates", "email": "ben@example.com", "email_verified": True}
    return identity.verify_affiliate(
        idp.sign_token(idp.private_key("EdDSA"), idp.build_claims(**{**person, **changes}))
    )


def test_dashboard_token_is_read_into_claims(provider):
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
def test_each_role_is_accepted(provider, role):
    assert _dashboard(role=role).role == role


@pytest.mark.parametrize("role", ["owner", "Owner ", "", "Root", None, ["Owner"], {"Owner": 1}, 7, True, ...])
def test_dashboard_token_with_an_unknown_role_is_rejected(provider, role):
    assert _dashboard(role=role) is None


@pytest.mark.parametrize(
    "organization",
    ["", "x", _ORGANIZATION[:-1], f"{{{_ORGANIZATION}}}", f"urn:uuid:{_ORGANIZATION}", _ORGANIZATION.replace("-", ""),
     f" {_ORGANIZATION}", 7, None, [_ORGANIZATION], ...],
)  # fmt: skip
def test_dashboard_token_with_a_malformed_organization_is_rejected(provider, organization):
    assert _dashboard(org_id=organization) is None


def test_organization_id_may_be_in_capitals(provider):
    assert _dashboard(org_id=_ORGANIZATION.upper()).organization_id == UUID(_ORGANIZATION)


@pytest.mark.parametrize(
    ("sid", "expected"),
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
def test_session_id_is_kept_only_if_valid(provider, sid, expected):
    assert _dashboard(sid=sid).session_id == expected


@pytest.mark.parametrize("read", [_dashboard, _affiliate])
@pytest.mark.parametrize("sub", ["", "a\0b", "x" * 256, None, 7, ["a"], ...])
def test_malformed_subject_is_rejected(provider, read, sub):
    assert read(sub=sub) is None


@pytest.mark.parametrize("read", [_dashboard, _affiliate])
@pytest.mark.parametrize("sub", ["x", "é" * 255, "auth0|1 2"])
def test_valid_subject_is_unchanged(provider, read, sub):
    assert read(sub=sub).subject == sub


@pytest.mark.parametrize("read", [_dashboard, _affiliate])
@pytest.mark.parametrize("verified", ["true", "True", 1, "1", [True], {}, None, False, ...])
def test_email_is_verified_only_if_the_claim_is_true(provider, read, verified):
    assert read(email_verified=verified).is_email_verified is False


@pytest.mark.parametrize("read", [_dashboard, _affiliate])
def test_email_is_trimmed_and_lowercased(provider, read):
    claims = read(email=" Ünn@Example.COM ")

    assert (claims.email, claims.is_email_verified) == ("ünn@example.com", True)


@pytest.mark.parametrize("read", [_dashboard, _affiliate])
@pytest.mark.parametrize(
    "email",
    ["", "  ", "a\0@example.com", "a@example.com\n", "a\x85@example.com", "\u212aim@example.com",
     "x" * 309 + "@example.com", 7, None, ["a@b.c"], ...],
)  # fmt: skip
def test_malformed_email_is_empty_and_unverified(provider, read, email):
    claims = read(email=email)

    assert (claims.email, claims.is_email_verified) == ("", False)


def test_email_may_have_320_characters(provider):
    email = "x" * 308 + "@example.com"

    assert (_affiliate(email=email).email, _affiliate(email=email).is_email_verified) == (email, True)


def test_affiliate_token_has_no_dashboard_claims(provider):
    claims = _affiliate(exp=4_000_000_000, iat=..., org_id=_ORGANIZATION, role="Owner", sid="s")

    assert claims == identity.Claims("user-1", "ben@example.com", True, 4_000_000_000, None, None, None)


@pytest.mark.parametrize("audience", ["finderfee-affiliates", ["finderfee-affiliates", idp.AUDIENCE]])
def test_affiliate_token_is_not_a_dashboard_token(provider, audience):
    assert _dashboard(aud=audience) is None


@pytest.mark.parametrize("audience", [idp.AUDIENCE, [idp.AUDIENCE, "finderfee-affiliates"]])
def test_dashboard_token_is_not_an_affiliate_token(provider, audience):
    assert _affiliate(aud=audience) is None


def test_audience_must_match_completely(configure_identity, tmp_path):
    path = tmp_path / "jwks.json"
    path.write_text(json.dumps({"keys": [idp.public_jwk(idp.private_key("EdDSA"))]}))
    configure_identity(
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


def test_local_dashboard_token_is_valid_without_an_issuer(configure_identity):
    issued_after_s = int(time.time())
    claims = identity.verify_dashboard(_member())

    assert (claims.subject, claims.email, claims.is_email_verified) == (
        "local:ann@example.com",
        "ann@example.com",
        True,
    )
    assert (claims.organization_id, claims.role) == (UUID(_ORGANIZATION), "Owner")
    assert issued_after_s + 60 <= claims.expires_at_s <= int(time.time()) + 60
    assert claims.session_id


def test_non_interactive_token_has_no_session(configure_identity):
    assert identity.verify_dashboard(_member(is_interactive=False)).session_id is None


def test_local_token_keeps_an_unverified_email(configure_identity):
    affiliate = identity.issue_affiliate(email="a@example.com", is_email_verified=False, ttl_s=60)

    assert identity.verify_dashboard(_member(is_email_verified=False)).is_email_verified is False
    assert identity.verify_affiliate(affiliate).is_email_verified is False


def test_same_email_gives_the_same_affiliate_subject(configure_identity):
    tokens = [
        identity.issue_affiliate(email=email, is_email_verified=True, ttl_s=60) for email in ("B@x.io", " b@X.io")
    ]

    assert [identity.verify_affiliate(token).subject for token in tokens] == ["local:b@x.io", "local:b@x.io"]


def test_local_token_is_valid_for_one_kind_only(configure_identity):
    assert identity.verify_affiliate(_member()) is None
    assert identity.verify_dashboard(identity.issue_affiliate(email="a@x.io", is_email_verified=True, ttl_s=60)) is None


def test_each_kind_of_local_token_has_its_own_key(configure_identity):
    affiliate = identity.issue_affiliate(email="a@x.io", is_email_verified=True, ttl_s=60)

    assert affiliate.split(".")[0] != _member().split(".")[0]  # the header names the key
    assert _member().split(".")[0] == _member().split(".")[0]


def test_expired_local_token_is_rejected(configure_identity):
    assert identity.verify_dashboard(_member(ttl_s=-_LEEWAY_S - 1)) is None


def test_local_token_is_valid_only_with_its_secret_key(configure_identity):
    token = _member()
    identity.clear_caches()
    assert identity.verify_dashboard(token)

    configure_identity(SECRET_KEY=_SECRET_KEY)
    assert identity.verify_dashboard(token) is None


def test_unknown_role_is_not_issued(configure_identity):
    with pytest.raises(ValueError, match="Root"):
        _member(role="Root")


def test_issuer_invalidates_local_tokens_of_its_kind_only(configure_identity, tmp_path):
    token = _member()
    affiliate = identity.issue_affiliate(email="a@x.io", is_email_verified=True, ttl_s=60)
    path = tmp_path / "jwks.json"
    path.write_text('{"keys": []}')
    configure_identity(DASHBOARD_JWT_ISSUER=idp.ISSUER, DASHBOARD_JWT_JWKS=str(path))

    assert identity.verify_dashboard(token) is None
    assert identity.verify_affiliate(affiliate)
    with pytest.raises(identity.NotLocal, match=idp.ISSUER):
        _member()
    assert identity.issue_affiliate(email="a@x.io", is_email_verified=True, ttl_s=60)


@pytest.mark.parametrize("kind", ["DASHBOARD", "AFFILIATE"])
def test_issuer_and_keys_must_be_set_together(kind):
    issuer, jwks = f"{kind}_JWT_ISSUER", f"{kind}_JWT_JWKS"

    with pytest.raises(settings.BadSetting, match=f"{issuer} is set without {jwks}"):
        settings.read({issuer: idp.ISSUER})
    with pytest.raises(settings.BadSetting, match=f"{jwks} is set without {issuer}"):
        settings.read({jwks: "keys.json"})


@pytest.mark.parametrize("kind", ["DASHBOARD", "AFFILIATE"])
def test_jwks_setting_is_a_url_or_a_path(kind):
    for good in ("https://id.example.com/jwks", "HTTP://id.example.com/jwks", "/etc/jwks.json", "jwks.json"):
        assert settings.read({f"{kind}_JWT_ISSUER": "i", f"{kind}_JWT_JWKS": good})
    with pytest.raises(settings.BadSetting, match="an https or http URL, or the path of a file"):
        settings.read({f"{kind}_JWT_ISSUER": "i", f"{kind}_JWT_JWKS": "ftp://id.example.com/jwks"})


def test_same_issuer_and_audience_for_both_kinds_is_rejected():
    same_audience = {"DASHBOARD_JWT_AUDIENCE": "a", "AFFILIATE_JWT_AUDIENCE": "a"}
    same_issuer = {"DASHBOARD_JWT_ISSUER": "i", "DASHBOARD_JWT_JWKS": "k", "AFFILIATE_JWT_JWKS": "k"}

    for variables in (same_audience, {**same_audience, **same_issuer, "AFFILIATE_JWT_ISSUER": "i"}):
        with pytest.raises(settings.BadSetting, match="the audiences must differ"):
            settings.read(variables)
    assert settings.read({**same_audience, **same_issuer, "AFFILIATE_JWT_ISSUER": "j"})
