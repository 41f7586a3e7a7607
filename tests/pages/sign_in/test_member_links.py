"""Members who sign in by email: where a link leads, several organizations, removed members, and enumeration."""

import re
import uuid

import pytest

from models import db
from pipelines import mail
from tests.support.api.agents import Agent
from tests.support.api.concurrency import run_concurrently
from tests.support.job_queues import drain
from tests.support.outside.visitor import Visitor
from tests.support.rows.brands import Brand
from tests.support.settings_overrides import override_settings


@pytest.fixture
def ada(brand):
    """The email address of a Manager of the brand."""
    return add_member(brand, "Manager")


def add_member(brand, role, email=None):
    """Add a member who has not signed in yet, and return their email address."""
    email = email or f"ada-{uuid.uuid4().hex}@example.com"
    with db.unit_of_work(brand.id):
        db.db.run(
            "insert into member (id, organization_id, email, role) values (gen_random_uuid(), %s, %s, %s) returning 1",
            (brand.id, email, role),
        )
    return email


def request_link(visitor, email, **fields):
    """Request a link in a browser, and return the path of the link in the email; None if no email was sent."""
    with db.any_org_work():
        before = [row[0] for row in db.db.run("select id from mail_message where recipient = %s", (email.lower(),))]
    assert visitor.send("/sign-in", {"email": email, **fields}).status_code == 303
    drain("mail")
    with db.any_org_work():
        rows = db.db.run("select id from mail_message where recipient = %s order by created_at", (email.lower(),))
        new = [mail.any_org_open(message_id).text for (message_id,) in rows if message_id not in before]
    return "/" + re.search(r"http\S+", new[0])[0].split("/", 3)[3] if new else None


def sign_in(app, email, **fields):
    """Return a browser that a mailed link has signed in."""
    visitor = Visitor(app)
    assert visitor.open(request_link(visitor, email, **fields)).status_code == 303
    return visitor


def test_link_signs_a_member_in_with_the_role_of_the_team(app, visitor, ada, brand):
    answer = visitor.open(request_link(visitor, ada))

    assert (answer.status_code, answer.headers["Location"]) == (303, "/dashboard")
    page = visitor.open("/dashboard").text
    assert ada in page
    assert "Manager" in page
    assert brand.rows("select subject from member where email = %s", ada) == [(f"local:{ada}",)]


def test_case_and_spaces_of_the_address_do_not_matter(visitor, ada):
    assert visitor.open(request_link(visitor, f" {ada.upper()} ".strip())).status_code == 303


def test_unverified_address_of_a_provider_signs_no_one_in(visitor, brand):
    email = f"eve-{uuid.uuid4().hex}@example.com"
    brand.person("Owner", email=email, is_email_verified=False).get("/api/v1/programs")

    assert request_link(visitor, email) is None


def test_address_of_a_program_signs_no_one_in(app, visitor, brand, flask):
    """A program's token names an address; no one has proved it, and no one was invited."""
    email = f"bot-{uuid.uuid4().hex}@example.com"
    token = flask.json("token", "mcp", "--org", str(brand.id), "--scope", "read", "--email", email)["token"]
    assert Agent(Brand(app, brand.id, token, "")).list_tools()

    assert request_link(visitor, email) is None


def test_person_of_two_organizations_chooses_one(app, visitor, brand, rival, ada):
    add_member(rival, "Viewer", ada)
    link = request_link(visitor, ada)
    page = visitor.open(link)

    assert page.status_code == 200
    assert "<h1>Where do you want to go?</h1>" in page.text
    assert visitor.cookie is None
    assert visitor.send(link, {}).status_code == 422
    assert visitor.send(link, {"destination": str(uuid.uuid4())}).status_code == 422
    chosen = visitor.send(link, {"destination": str(rival.id)})
    assert (chosen.status_code, chosen.headers["Location"]) == (303, "/dashboard")
    assert "Viewer" in visitor.open("/dashboard").text
    assert visitor.open(link).status_code == 410


def test_member_who_is_an_affiliate_chooses_the_portal(visitor, brand, ada):
    brand.program()
    brand.affiliate("rita", email=ada)
    link = request_link(visitor, ada)

    assert "Affiliate portal" in visitor.open(link).text
    assert visitor.send(link, {"destination": "account"}).headers["Location"] == "/portal"


@pytest.mark.parametrize("page", ["/portal/payouts", "/dashboard/programs"])
def test_requested_page_decides_between_portal_and_dashboard(visitor, brand, ada, page):
    brand.program()
    brand.affiliate("rita", email=ada)

    assert visitor.open(request_link(visitor, ada, next=page)).headers["Location"] == page


def test_member_removed_after_the_email_is_not_signed_in(visitor, brand, ada):
    link = request_link(visitor, ada)
    _remove(brand, ada)

    assert visitor.open(link).status_code == 410
    assert visitor.open("/dashboard").status_code == 303
    assert request_link(visitor, ada) is None


def test_removed_member_is_signed_out_and_their_token_is_refused(app, brand, ada):
    browser, token = sign_in(app, ada), brand.person("Manager", email=ada)
    assert browser.open("/dashboard").status_code == 200
    assert token.get("/api/v1/programs").status_code == 200
    _remove(brand, ada)

    assert browser.open("/dashboard").status_code == 303
    assert token.get("/api/v1/programs").status_code == 401


@pytest.mark.parametrize(
    ("statement", "status"),
    [
        ("delete from web_session where email = %s returning 1", 303),
        ("update web_session set role = 'Viewer' where email = %s returning 1", 403),
        ("update member set removed_at = now() where email = %s returning 1", 303),
    ],
)
def test_form_sent_after_a_change_in_another_process_changes_nothing(app, brand, monkeypatch, statement, status):
    """Processes cache sessions for seconds; a form is not accepted from the cache."""
    override_settings(monkeypatch, web={"key_cache_s": 60})
    email = add_member(brand, "Admin")
    browser = sign_in(app, email)
    assert browser.send("/dashboard/api-keys", {"name": "before", "scope": "read"}).status_code == 200
    brand.rows(statement, email)

    assert browser.send("/dashboard/api-keys", {"name": "after", "scope": "read"}).status_code == status
    assert browser.open("/dashboard/api-keys").status_code == status  # the form has corrected the cache
    assert brand.rows("select name from api_key where name in ('before', 'after')") == [("before",)]


def test_removal_during_sign_in_leaves_no_session(app, brand, ada):
    visitor = Visitor(app)
    link = request_link(visitor, ada)

    run_concurrently(lambda: visitor.open(link), lambda: _remove(brand, ada))

    assert visitor.open("/dashboard").status_code == 303
    assert brand.rows("select 1 from web_session where email = %s", ada) == []


def test_answer_and_work_are_the_same_for_a_member_and_for_strangers(app, ada):
    answers = []
    for email in (ada, f"nobody-{uuid.uuid4().hex}@example.com"):
        answer = Visitor(app).send("/sign-in", {"email": email})
        answers.append((answer.status_code, answer.data, answer.headers["Location"]))

    assert len(set(answers)) == 1


@pytest.mark.parametrize("url", ["https://partners.example.com", "http://10.0.0.5:8000"])
def test_sign_in_page_has_no_shell_commands_on_a_public_host(visitor, monkeypatch, url):
    assert "flask sign-in" in visitor.open("/sign-in").text
    assert "flask mail" in visitor.open("/sign-in/asked").text
    override_settings(monkeypatch, web={"public_base_url": url})

    assert "flask " not in visitor.open("/sign-in").text
    assert "flask " not in visitor.open("/sign-in/asked").text


@pytest.mark.parametrize(
    "email", ["ada\x00@example.com", "x" * 400 + "@example.com", "ådå@exämple.com", "\u202eada@a.b"]
)
def test_odd_addresses_are_answered_like_others(visitor, email):
    answer = visitor.send("/sign-in", {"email": email})
    drain("mail")

    assert answer.status_code in (303, 422)


def test_switching_changes_the_organization_and_the_cookie(app, brand, rival, ada):
    add_member(rival, "Viewer", ada)
    visitor = Visitor(app)
    link = request_link(visitor, ada)
    visitor.open(link)
    visitor.send(link, {"destination": str(brand.id)})
    former = visitor.cookie
    answer = visitor.send("/switch-organization", {"organizationId": str(rival.id)})

    assert (answer.status_code, answer.headers["Location"]) == (303, "/dashboard")
    assert visitor.cookie != former
    assert "Viewer" in visitor.open("/dashboard").text
    visitor.client.set_cookie("finderfee", former)
    assert visitor.open("/dashboard").status_code == 303


def test_switching_to_a_foreign_organization_returns_404(app, brand, rival, ada):
    browser = sign_in(app, ada)

    for organization_id in (str(rival.id), str(uuid.uuid4()), "x", ""):
        assert browser.send("/switch-organization", {"organizationId": organization_id}).status_code == 404
    assert browser.open("/dashboard").status_code == 200


def test_own_organizations_are_listed_with_their_roles(brand, rival, ada):
    add_member(rival, "Viewer", ada)
    listed = brand.person("Manager", email=ada).get("/api/organizations/mine").json

    assert {row["id"]: row["role"] for row in listed} == {str(brand.id): "Manager", str(rival.id): "Viewer"}
    unverified = Brand.person(brand, "Manager", email=ada, is_email_verified=False).get("/api/organizations/mine").json
    assert [row["id"] for row in unverified] == [str(brand.id)]


def _remove(brand, email):
    member_id = brand.rows("select id from member where email = %s", email)[0][0]
    assert brand.person("Owner").call("DELETE", f"/api/v1/team/{member_id}").status_code == 204
