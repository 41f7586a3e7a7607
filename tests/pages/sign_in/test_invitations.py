"""Accepting an invitation to a team: by whom, in which browser, how often."""

import uuid

import pytest

from tests.pages.sign_in.test_member_links import add_member, request_link, sign_in
from tests.support.api.concurrency import run_concurrently
from tests.support.outside.visitor import Visitor
from tests.support.pages.mailed_links import read_newest_link


@pytest.fixture
def email():
    return f"bo-{uuid.uuid4().hex}@example.com"


def invite(brand, email, role="Manager"):
    """Invite a person, and return the path of the link in the email."""
    answer = brand.person("Owner").post("/api/v1/team", {"email": email, "role": role})
    assert answer.status_code == 201
    return "/" + read_newest_link(email, "team.invite").split("/", 3)[3]


def _accept(visitor, link):
    """Press the button, and follow the link that signs in."""
    answer = visitor.send(link)
    assert answer.status_code == 303
    return visitor.open(answer.headers["Location"])


def test_opening_the_link_uses_nothing_up_and_the_button_joins(app, visitor, brand, email):
    link = invite(brand, email)
    for _ in range(2):
        page = Visitor(app).open(link)
        assert (page.status_code, page.headers.getlist("Set-Cookie")) == (200, [])
        assert "Join Brand" in page.text
        assert email in page.text
    assert visitor.client.head(link).headers.getlist("Set-Cookie") == []
    answer = _accept(visitor, link)

    assert (answer.status_code, answer.headers["Location"]) == (303, "/dashboard")
    assert "Manager" in visitor.open("/dashboard").text
    assert Visitor(app).open(link).status_code == 410
    assert Visitor(app).send(link).status_code == 410
    assert brand.rows("select role from member where email = %s and removed_at is null", email) == [("Manager",)]


def test_concurrent_acceptances_make_one_member(app, brand, email):
    link = invite(brand, email)

    answers = run_concurrently(*[lambda: Visitor(app).send(link)] * 4)

    assert sorted(answer.status_code for answer in answers) == [303, 410, 410, 410]
    assert len(brand.rows("select 1 from member where email = %s", email)) == 1


def test_browser_of_another_person_cannot_accept(app, brand, email):
    other = add_member(brand, "Viewer")
    browser, link = sign_in(app, other), invite(brand, email)

    assert "This invitation is for" in browser.open(link).text
    assert browser.send(link).status_code == 403
    assert brand.rows("select 1 from member where email = %s", email) == []
    assert brand.rows("select role from member where email = %s", other) == [("Viewer",)]


def test_cross_site_form_cannot_accept(visitor, brand, email):
    link = invite(brand, email)

    assert visitor.send(link, Sec_Fetch_Site="cross-site").status_code == 403
    assert visitor.open(link).status_code == 200


def test_session_of_an_invitation_is_no_login_for_money_or_keys(visitor, brand, email):
    _accept(visitor, invite(brand, email, "Owner"))
    answer = visitor.send("/dashboard/api-keys", {"name": "x", "scope": "read_write"})

    assert answer.headers["Location"].startswith("/sign-in?next=")
    assert visitor.open(request_link(visitor, email)).status_code == 303
    assert visitor.send("/dashboard/api-keys", {"name": "x", "scope": "read_write"}).status_code == 200


def test_expired_invitation_returns_410(visitor, brand, email):
    link = invite(brand, email)
    brand.rows("update member_invite set expires_at = now() where email = %s returning 1", email)

    assert (visitor.open(link).status_code, visitor.send(link).status_code) == (410, 410)
    assert request_link(visitor, email) is None


def test_invitation_is_valid_for_seven_days(brand, email):
    invite(brand, email)
    lifetime = "extract(epoch from expires_at - created_at) from member_invite where email = %s"

    assert brand.rows(f"select {lifetime}", email) == [(7 * 86_400,)]


def test_invited_person_may_join_by_signing_in(visitor, brand, email):
    invite(brand, email)
    link = request_link(visitor, email)
    page = visitor.open(link)

    assert "You are invited to join Brand as Manager" in page.text
    assert visitor.send(link, {"destination": str(brand.id)}).headers["Location"] == "/dashboard"


def test_member_of_another_organization_joins_and_continues_there(app, brand, rival, email):
    add_member(rival, "Viewer", email)
    browser = sign_in(app, email)
    answer = browser.send(invite(brand, email))

    assert (answer.status_code, answer.headers["Location"]) == (303, "/dashboard")
    assert "Manager" in browser.open("/dashboard").text
    assert browser.send("/switch-organization", {"organizationId": str(rival.id)}).status_code == 303


def test_removed_member_who_is_invited_again_has_the_new_role(app, brand, email):
    member_id = _join(app, brand, email, "Admin")
    brand.person("Owner").call("DELETE", f"/api/v1/team/{member_id}")
    browser = Visitor(app)
    _accept(browser, invite(brand, email, "Viewer"))

    assert brand.rows("select id, role from member where email = %s", email) == [(member_id, "Viewer")]
    assert browser.open("/dashboard").status_code == 200


@pytest.mark.parametrize("token", ["x", "%00", "é" * 300, "a" * 5000])
def test_unknown_invitation_returns_410(visitor, token):
    for page in (visitor.open(f"/sign-in/invite/{token}"), visitor.send(f"/sign-in/invite/{token}")):
        assert page.status_code == 410
        assert "<h1>This invitation is no longer valid</h1>" in page.text
        assert "ask the person who invited you" in page.text


def test_invited_person_with_an_unverified_row_joins(visitor, brand, email):
    brand.person("Viewer", email=email, is_email_verified=False).get("/api/v1/programs")
    answer = _accept(visitor, invite(brand, email))

    assert (answer.status_code, answer.headers["Location"]) == (303, "/dashboard")
    assert "Manager" in visitor.open("/dashboard").text


def test_joining_is_audited(visitor, brand, email):
    _accept(visitor, invite(brand, email))

    assert brand.rows("select actor_label from audit_entry where action = 'team.joined'") == [(email,)]


def _join(app, brand, email, role):
    _accept(Visitor(app), invite(brand, email, role))
    return brand.rows("select id from member where email = %s", email)[0][0]
