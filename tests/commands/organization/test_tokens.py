"""`flask token` as an operator types it."""

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
    """Configure an issuer for both kinds of people."""
    for kind in ("DASHBOARD", "AFFILIATE"):
        monkeypatch.setenv(f"{kind}_JWT_ISSUER", "https://id.example.com/")
        monkeypatch.setenv(f"{kind}_JWT_JWKS", str(tmp_path / "jwks.json"))
    settings.current.cache_clear()
    tokens.clear_caches()
    yield
    monkeypatch.undo()
    settings.current.cache_clear()
    tokens.clear_caches()


def _token(flask, *words: str) -> str:
    said = flask.json("token", *words)
    assert list(said) == ["token"]
    return said["token"]


def _audit(subject: str) -> list[tuple]:
    with db.any_org_work():
        return db.db.run(
            "select organization_id, action, entity_type, actor_type, after from audit_entry"
            " where entity_id = %s order by created_at",
            (subject,),
        )


@pytest.mark.parametrize("role", ["Owner", "Admin", "Manager", "Viewer"])
def test_a_dashboard_token_speaks_for_a_role_of_the_organization(flask, brand, role):
    found = tokens.verify_dashboard(_token(flask, "dashboard", "--org", str(brand.id), "--role", role))

    assert (found.organization_id, found.role) == (brand.id, role)
    assert (found.email, found.is_email_verified) == (f"{role.lower()}@example.com", True)
    assert found.session_id
    assert 0 <= time.time() + 86_400 - found.expires_at_s < 30


def test_a_dashboard_token_is_for_whom_it_is_asked(flask, brand):
    email = f"Ann-{uuid4().hex}@Example.com"
    found = tokens.verify_dashboard(
        _token(flask, "dashboard", "--org", str(brand.id), "--role", "Admin", "--email", email,
                  "--unverified-email", "--ttl-s", "60")
    )  # fmt: skip

    assert (found.subject, found.email, found.is_email_verified) == (f"local:{email.lower()}", email.lower(), False)
    assert 0 <= time.time() + 60 - found.expires_at_s < 30


def test_an_affiliate_token_is_for_whom_it_is_asked(flask):
    email = f"Ben-{uuid4().hex}@Example.com"
    verified = tokens.verify_affiliate(_token(flask, "affiliate", "--email", email))
    unverified = tokens.verify_affiliate(
        _token(flask, "affiliate", "--email", email, "--unverified-email", "--ttl-s", "60")
    )

    assert (verified.subject, verified.email) == (f"local:{email.lower()}", email.lower())
    assert (verified.is_email_verified, unverified.is_email_verified) == (True, False)
    assert 0 <= time.time() + 86_400 - verified.expires_at_s < 30
    assert 0 <= time.time() + 60 - unverified.expires_at_s < 30


def test_a_person_sees_the_token_and_nothing_else(flask, brand):
    code, said = flask("token", "dashboard", "--org", str(brand.id), "--role", "Owner")
    affiliate_code, affiliate_said = flask("token", "affiliate", "--email", "ben@example.com")

    assert (code, affiliate_code) == (0, 0)
    assert tokens.verify_dashboard(said.removesuffix("\n"))
    assert tokens.verify_affiliate(affiliate_said.removesuffix("\n"))


def test_issuing_is_audited_without_the_token(flask, brand):
    email = f"ann-{uuid4().hex}@example.com"
    flask("token", "dashboard", "--org", str(brand.id), "--role", "Admin", "--email", email)
    flask("token", "affiliate", "--email", email, "--ttl-s", "60")

    assert _audit(f"local:{email}") == [
        (brand.id, "token.issued", "token", "operator",
         {"kind": "dashboard", "role": "Admin", "email": email, "emailVerified": True, "ttlS": 86_400}),
        (None, "token.issued", "token", "operator",
         {"kind": "affiliate", "email": email, "emailVerified": True, "ttlS": 60}),
    ]  # fmt: skip


def test_an_organization_that_nobody_has_gets_no_token(flask):
    nobody, email = str(uuid4()), f"ann-{uuid4().hex}@example.com"

    assert flask("token", "dashboard", "--org", nobody, "--role", "Owner", "--email", email) == (
        1,
        f"Error: There is no organization {nobody}; `flask org list` shows them.\n",
    )
    assert _audit(f"local:{email}") == []


@pytest.mark.parametrize("email", ["", "ann", "ann@", "a\0@example.com", "a b@example.com", "x" * 400 + "@example.com"])
def test_an_email_that_cannot_be_one_is_refused_in_one_line(flask, email):
    code, said = flask("token", "affiliate", "--email", email)

    assert code == 1
    assert said.endswith("is not a valid e-mail address.\n")
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
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
def test_a_command_that_cannot_be_read_ends_with_2_and_says_why(flask, arguments, said):
    code, output = flask("token", *arguments)

    assert code == 2
    assert said in output


def test_with_an_issuer_there_is_no_token_but_where_to_get_one(flask, brand, foreign_issuer):
    email = f"ann-{uuid4().hex}@example.com"
    dashboard = flask("token", "dashboard", "--org", str(brand.id), "--role", "Owner", "--email", email, "--json")
    affiliate = flask("token", "affiliate", "--email", email)

    for kind, answer in (("dashboard", dashboard), ("affiliate", affiliate)):
        assert answer == (
            1,
            f"Error: The {kind} tokens of this installation are issued by https://id.example.com/."
            " Next: request one there.\n",
        )
    assert _audit(f"local:{email}") == []


def test_a_human_token_passes_for_a_person_while_no_service_is_configured(flask):
    with configure_human_check(URL="local"):
        token = _token(flask, "human")

        assert human_check.verify(token, ip="", about="", now=clock.now())
        assert not human_check.verify(token, ip="", about="", now=clock.now() + timedelta(minutes=10))


def test_a_human_token_is_refused_where_it_would_not_be_accepted(flask):
    code, said = flask("token", "human")

    assert code == 1
    assert "HUMAN_CHECK_URL" in said
