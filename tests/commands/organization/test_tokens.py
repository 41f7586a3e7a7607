"""`flask token`: local tokens for members, affiliates and human verification."""

import time
from datetime import timedelta
from uuid import uuid4

import pytest

import settings
from adapters import clock
from adapters.fraud import human_check
from adapters.identity import tokens
from models import db
from tests.support.rows.paid_leads import configure_human_check


@pytest.fixture
def foreign_issuer(monkeypatch, tmp_path):
    """Configure an external issuer of dashboard and affiliate tokens."""
    for kind in ("DASHBOARD", "AFFILIATE"):
        monkeypatch.setenv(f"{kind}_JWT_ISSUER", "https://id.example.com/")
        monkeypatch.setenv(f"{kind}_JWT_JWKS", str(tmp_path / "jwks.json"))
    settings.current.cache_clear()
    tokens.clear_caches()
    yield
    monkeypatch.undo()
    settings.current.cache_clear()
    tokens.clear_caches()


def _issue_token(flask, *words: str) -> str:
    response = flask.json("token", *words)
    assert list(response) == ["token"]
    return response["token"]


def _list_audit_entries(subject: str) -> list[tuple]:
    with db.any_org_work():
        return db.db.run(
            "select organization_id, action, entity_type, actor_type, after from audit_entry"
            " where entity_id = %s order by created_at",
            (subject,),
        )


@pytest.mark.parametrize("role", ["Owner", "Admin", "Manager", "Viewer"])
def test_dashboard_token_has_the_organization_and_the_role(flask, brand, role):
    claims = tokens.verify_dashboard(_issue_token(flask, "dashboard", "--org", str(brand.id), "--role", role))

    assert (claims.organization_id, claims.role) == (brand.id, role)
    assert (claims.email, claims.is_email_verified) == (f"{role.lower()}@example.com", True)
    assert claims.session_id
    assert 0 <= time.time() + 86_400 - claims.expires_at_s < 30


def test_dashboard_token_has_the_requested_email(flask, brand):
    email = f"Ann-{uuid4().hex}@Example.com"
    claims = tokens.verify_dashboard(
        _issue_token(flask, "dashboard", "--org", str(brand.id), "--role", "Admin", "--email", email,
                  "--unverified-email", "--ttl-s", "60")
    )  # fmt: skip

    assert (claims.subject, claims.email, claims.is_email_verified) == (f"local:{email.lower()}", email.lower(), False)
    assert 0 <= time.time() + 60 - claims.expires_at_s < 30


def test_affiliate_token_has_the_requested_email(flask):
    email = f"Ben-{uuid4().hex}@Example.com"
    verified = tokens.verify_affiliate(_issue_token(flask, "affiliate", "--email", email))
    unverified = tokens.verify_affiliate(
        _issue_token(flask, "affiliate", "--email", email, "--unverified-email", "--ttl-s", "60")
    )

    assert (verified.subject, verified.email) == (f"local:{email.lower()}", email.lower())
    assert (verified.is_email_verified, unverified.is_email_verified) == (True, False)
    assert 0 <= time.time() + 86_400 - verified.expires_at_s < 30
    assert 0 <= time.time() + 60 - unverified.expires_at_s < 30


def test_output_is_the_token_only(flask, brand):
    code, output = flask("token", "dashboard", "--org", str(brand.id), "--role", "Owner")
    affiliate_code, affiliate_output = flask("token", "affiliate", "--email", "ben@example.com")

    assert (code, affiliate_code) == (0, 0)
    assert tokens.verify_dashboard(output.removesuffix("\n"))
    assert tokens.verify_affiliate(affiliate_output.removesuffix("\n"))


def test_issued_token_is_audited_without_its_value(flask, brand):
    email = f"ann-{uuid4().hex}@example.com"
    flask("token", "dashboard", "--org", str(brand.id), "--role", "Admin", "--email", email)
    flask("token", "affiliate", "--email", email, "--ttl-s", "60")

    assert _list_audit_entries(f"local:{email}") == [
        (brand.id, "token.issued", "token", "operator",
         {"kind": "dashboard", "role": "Admin", "email": email, "emailVerified": True, "ttlS": 86_400}),
        (None, "token.issued", "token", "operator",
         {"kind": "affiliate", "email": email, "emailVerified": True, "ttlS": 60}),
    ]  # fmt: skip


def test_unknown_organization_gets_no_token(flask):
    unknown_id, email = str(uuid4()), f"ann-{uuid4().hex}@example.com"

    assert flask("token", "dashboard", "--org", unknown_id, "--role", "Owner", "--email", email) == (
        1,
        f"Error: There is no organization {unknown_id}; `flask org list` shows them.\n",
    )
    assert _list_audit_entries(f"local:{email}") == []


@pytest.mark.parametrize("email", ["", "ann", "ann@", "a\0@example.com", "a b@example.com", "x" * 400 + "@example.com"])
def test_invalid_email_is_refused_in_one_line(flask, email):
    code, output = flask("token", "affiliate", "--email", email)

    assert code == 1
    assert output.endswith("is not a valid e-mail address.\n")
    assert output.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["dashboard", "--role", "Owner"], "Missing option '--org'"),
        (["dashboard", "--org", str(uuid4())], "Missing option '--role'"),
        (["dashboard", "--org", "17", "--role", "Owner"], "'17' is not a valid UUID"),
        (["dashboard", "--org", str(uuid4()), "--role", "owner"], "'owner' is not one of 'Owner', 'Admin', 'Manager'"),
        (["affiliate"], "Missing option '--email'"),
        (["affiliate", "--email", "a@example.com", "--ttl-s", "0"], "0 is not in the range"),
        (["affiliate", "--email", "a@example.com", "--ttl-s", "-1"], "-1 is not in the range"),
        (["affiliate", "--email", "a@example.com", "--ttl-s", str(10**18)], "is not in the range"),
        (["affiliate", "--email", "a@example.com", "--ttl-s", "x"], "'x' is not a valid integer"),
    ],
)
def test_invalid_arguments_exit_with_2(flask, arguments, message):
    code, output = flask("token", *arguments)

    assert code == 2
    assert message in output


def test_external_issuer_is_reported_instead_of_a_token(flask, brand, foreign_issuer):
    email = f"ann-{uuid4().hex}@example.com"
    dashboard = flask("token", "dashboard", "--org", str(brand.id), "--role", "Owner", "--email", email, "--json")
    affiliate = flask("token", "affiliate", "--email", email)

    for kind, result in (("dashboard", dashboard), ("affiliate", affiliate)):
        assert result == (
            1,
            f"Error: The {kind} tokens of this installation are issued by https://id.example.com/."
            " Next: request one there.\n",
        )
    assert _list_audit_entries(f"local:{email}") == []


def test_human_token_is_accepted_by_the_local_check(flask):
    with configure_human_check(URL="local"):
        token = _issue_token(flask, "human")

        assert human_check.verify(token, ip="", about="", now=clock.now())
        assert not human_check.verify(token, ip="", about="", now=clock.now() + timedelta(minutes=10))


def test_human_token_is_not_issued_without_the_local_check(flask):
    code, output = flask("token", "human")

    assert code == 1
    assert "HUMAN_CHECK_URL" in output
