"""Members who sign in at an identity provider without claims of our own: the team list has their roles."""

import re
import uuid

import pytest

from models import db
from tests.pages.sign_in.test_member_links import add_member
from tests.support.outside.openid_provider import sign_in_with_provider
from tests.support.outside.visitor import Visitor
from tests.support.settings_overrides import override_settings


@pytest.fixture
def email():
    return f"gil-{uuid.uuid4().hex}@example.com"


@pytest.fixture
def google(app, brand, monkeypatch, email):
    """A provider whose tokens have neither an organization nor a role."""
    with sign_in_with_provider(brand, monkeypatch) as provider:
        override_settings(monkeypatch, identity={"dashboard_roles": "members"})
        provider.person = {"sub": f"google-{email}", "email": email, "email_verified": True}
        yield provider


@pytest.fixture
def manager(brand, email):
    """The email address of a Manager of the brand."""
    return add_member(brand, "Manager", email)


def test_role_and_organization_come_from_the_team_list(app, brand, google, email):
    add_member(brand, "Manager", email)
    browser = Visitor(app)

    assert google.sign_in(browser).headers["Location"] == "/dashboard"
    assert "Manager" in browser.open("/dashboard").text
    assert brand.rows("select subject from member where email = %s", email) == [(f"google-{email}",)]


@pytest.mark.parametrize("claims", [{"org_id": "ORG", "role": "Owner"}, {"role": "Owner"}])
def test_claims_of_the_token_give_no_role(app, brand, google, email, claims):
    add_member(brand, "Viewer", email)
    google.person |= {name: str(brand.id) if value == "ORG" else value for name, value in claims.items()}
    browser = Visitor(app)
    google.sign_in(browser)

    assert brand.rows("select role from member where email = %s", email) == [("Viewer",)]
    assert brand.rows("select role from web_session where email = %s", email) == [("Viewer",)]


def test_unverified_email_gets_a_page_that_says_what_to_do(app, brand, google, email):
    add_member(brand, "Owner", email)
    google.person["email_verified"] = False
    browser = Visitor(app)
    answer = google.sign_in(browser)

    assert answer.status_code == 403
    assert "has not verified your email address" in answer.text
    assert browser.cookie is None


@pytest.mark.parametrize(
    ("claims", "status"),
    [
        ({"xms_edov": True}, 303),
        ({"xms_edov": 1}, 303),
        ({"xms_edov": "1"}, 303),
        ({"xms_edov": False}, 403),
        ({"xms_edov": "false"}, 403),
        ({}, 403),
        ({"xms_edov": True, "email_verified": False}, 403),
        ({"email_verified": "true"}, 403),
    ],
)
def test_claim_of_entra_counts_where_the_standard_one_is_missing(visitor, google, manager, claims, status):
    assert google.person["email"] == manager
    del google.person["email_verified"]
    google.person |= claims

    assert google.sign_in(visitor).status_code == status


def test_nobodys_email_gets_a_page_that_says_whom_to_ask(app, google):
    browser = Visitor(app)
    answer = google.sign_in(browser)

    assert answer.status_code == 403
    assert "Ask an Owner or Admin of your organization to invite" in answer.text
    assert browser.cookie is None


def test_invited_person_joins_by_signing_in(app, brand, google, email, monkeypatch):
    _invite_row(brand, email)
    browser = Visitor(app)

    assert google.sign_in(browser).headers["Location"] == "/dashboard"
    assert "Manager" in browser.open("/dashboard").text


def test_person_of_two_organizations_switches(app, brand, rival, google, email):
    add_member(brand, "Manager", email)
    add_member(rival, "Viewer", email)
    browser = Visitor(app)
    google.sign_in(browser)
    for target, role in ((rival, "Viewer"), (brand, "Manager"), (rival, "Viewer")):
        browser.send("/switch-organization", {"organizationId": str(target.id)})
        assert role in browser.open("/dashboard").text
    browser.open(google.log_in(browser.open("/sign-in/with/dashboard").headers["Location"]))
    assert "Viewer" in browser.open("/dashboard").text  # a check at the provider stays in the organization


def test_switched_session_is_refreshed_at_the_provider(app, brand, rival, google, email):
    add_member(brand, "Manager", email)
    add_member(rival, "Viewer", email)
    browser = Visitor(app)
    google.sign_in(browser)
    browser.send("/switch-organization", {"organizationId": str(rival.id)})
    _make_refresh_due(email)

    assert browser.open("/dashboard").status_code == 200
    assert google.refreshes == 1


def test_removed_member_is_signed_out_and_not_let_in_again(app, brand, google, email):
    add_member(brand, "Manager", email)
    browser = Visitor(app)
    google.sign_in(browser)
    with db.unit_of_work(brand.id):
        db.db.run(
            "update member set removed_at = now(), access_changed_at = now() where email = %s returning 1", (email,)
        )

    assert browser.open("/dashboard").status_code == 303
    assert google.sign_in(Visitor(app)).status_code == 403


def test_refresh_does_not_undo_a_role_change_of_the_team(app, brand, google, email):
    add_member(brand, "Manager", email)
    browser = Visitor(app)
    google.sign_in(browser)
    with db.any_org_work():
        db.db.run("update member set role = 'Viewer' where email = %s returning 1", (email,))
        db.db.run("update web_session set role = 'Viewer' where email = %s returning 1", (email,))
    _make_refresh_due(email)
    browser.open("/dashboard")

    assert brand.rows("select role from web_session where email = %s", email) == [("Viewer",)]


def test_session_ends_when_the_provider_reports_another_email(app, brand, google, email):
    add_member(brand, "Manager", email)
    browser = Visitor(app)
    google.sign_in(browser)
    google.person["email"] = "other@example.com"
    _make_refresh_due(email)

    assert browser.open("/dashboard").status_code == 303


def test_sign_in_page_mails_no_links_to_members(app, brand, google, email):
    page = Visitor(app).open("/sign-in").text

    assert "Sign in with Acme ID" in page
    assert "Affiliates: get a sign-in link" in page


def test_claims_mode_lists_only_the_own_organization(app, brand, rival, monkeypatch, email):
    add_member(rival, "Owner", email)
    with sign_in_with_provider(brand, monkeypatch) as provider:
        provider.person["email"] = email
        browser = Visitor(app)
        provider.sign_in(browser)

        assert browser.send("/switch-organization", {"organizationId": str(rival.id)}).status_code == 404


def test_team_page_has_forms_where_the_team_list_has_the_roles(app, brand, google, email):
    add_member(brand, "Owner", email)
    browser = Visitor(app)
    google.sign_in(browser)

    assert 'action="/dashboard/settings/team"' in browser.open("/dashboard/settings/team").text


def test_team_page_leads_to_the_provider_that_manages_the_roles(app, brand, monkeypatch):
    """Forms that the API refuses are not shown."""
    with sign_in_with_provider(brand, monkeypatch) as provider:
        browser = Visitor(app)
        provider.sign_in(browser)
        page = browser.open("/dashboard/settings/team").text
        member_id = re.search(r"/dashboard/settings/team/([0-9a-f-]{36})", page)[1]
        for text in (page, browser.open(f"/dashboard/settings/team/{member_id}").text):
            assert not re.search(r'action="/dashboard/settings/team(/[^"]+/(role|remove|resend))?"', text)
            assert "managed at your identity provider" in text


@pytest.mark.parametrize("roles", ["claims", "members"])
def test_security_page_leads_to_the_provider_for_two_factor_authentication(app, brand, monkeypatch, roles):
    with sign_in_with_provider(brand, monkeypatch) as provider:
        override_settings(monkeypatch, identity={"dashboard_roles": roles})
        add_member(brand, "Owner", provider.person["email"])
        browser = Visitor(app)
        provider.sign_in(browser)
        for page in ("/dashboard/settings/security", "/dashboard/settings/security/two-factor"):
            text = browser.open(page).text
            assert "at your identity provider" in text
            assert "Set up" not in text.partition("<main")[2]
            assert 'action="/dashboard/settings/security' not in text


def _invite_row(brand, email):
    with db.unit_of_work(brand.id):
        db.db.run(
            "insert into member_invite (id, organization_id, email, role, token_hash, invited_by, created_at,"
            " expires_at) select gen_random_uuid(), organization_id, %s, 'Manager', sha256(%s::bytea), id, now(),"
            " now() + interval '7 days' from member limit 1 returning 1",
            (email, email),
        )


def _make_refresh_due(email):
    with db.any_org_work():
        db.db.run(
            "update web_session set refresh_from = now() - interval '1 minute' where email = %s returning 1", (email,)
        )
