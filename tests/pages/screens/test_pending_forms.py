"""A login that is too old for money: the page leads to sign in, and the same person finds the form filled in."""

import re
import secrets
from datetime import timedelta

import pytest
from flask import Blueprint, Response

from adapters import clock
from api.organization.keys import create_api_key
from app import create_app
from models import db
from pages import api_client, pending_forms, screens
from pages.screens import screen
from tests.support.api_description import Description
from tests.support.outside.visitor import Visitor

_PAGE = "/dashboard/test-of-kept"
_TYPED = {"total": "12,539.91", "of": ["a", "b"], "_key": "k", "_page": f"{_PAGE}?program=1"}


@pytest.fixture(scope="module")
def app():
    """The application with one page more: its form wants a fresh login, and it shows what was kept of it."""
    blueprint = Blueprint("test_of_kept", __name__)

    @blueprint.get(_PAGE)
    @screen("member")
    def show_form():
        found = pending_forms.restore()
        return Response(repr(found and dict(found.values)))

    @blueprint.post(_PAGE)
    @screen("member", uses=(create_api_key,))
    def send_form():
        return screens.redirect(f"/dashboard?made={api_client.call(create_api_key, body={}).status}")

    made = create_app()
    made.register_blueprint(blueprint)
    made.extensions["description"] = Description(made)
    return made


def _age():
    with db.any_org_work():
        db.db.run("update web_session set signed_in_at = now() - interval '61 minutes' where email = 'kim@example.com'")


@pytest.fixture
def kim(visitor, links):
    visitor.open(links("owner", "--email", "kim@example.com"))
    return visitor


@pytest.fixture
def waiting(kim):
    """Kim, whose form waits for a new login."""
    _age()
    kim.send(_PAGE, _TYPED)
    return kim


def test_within_the_hour_nothing_is_asked(kim):
    assert kim.send(_PAGE, _TYPED).headers["Location"] == "/dashboard?made=201"


def test_after_it_one_is_led_to_sign_in_and_nothing_is_done(kim, brand):
    _age()
    answer = kim.send(_PAGE, _TYPED)

    assert answer.status_code == 303
    assert answer.headers["Location"] == "/sign-in?next=%2Fdashboard%2Ftest-of-kept%3Fprogram%3D1"
    assert brand.rows("select count(*) from api_key where name = ''") == [(1,)]
    assert "12,539.91" not in " ".join(f"{name}: {value}" for name, value in answer.headers)


def test_the_session_stays_good_for_all_else(waiting):
    assert waiting.open("/dashboard").status_code == 200
    assert "what you typed is kept" in waiting.open("/sign-in").text


def test_a_new_link_of_the_same_person_leads_back_to_what_was_typed_once(waiting, links):
    answer = waiting.open(links("owner", "--email", "kim@example.com"))

    assert answer.headers["Location"] == f"{_PAGE}?program=1"
    assert waiting.open(_PAGE).text == repr({"total": ["12,539.91"], "of": ["a", "b"]})
    assert waiting.open(_PAGE).text == "None"
    assert waiting.send(_PAGE, _TYPED).headers["Location"] == "/dashboard?made=201"


def test_another_person_gets_nothing_of_it_and_it_is_gone(waiting, links):
    answer = waiting.open(links("owner", "--email", "bo@example.com"))

    assert answer.headers["Location"] == "/dashboard"
    assert waiting.open(_PAGE).text == "None"
    waiting.open(links("owner", "--email", "kim@example.com"))
    assert waiting.open(_PAGE).text == "None"


def test_the_same_person_at_another_brand_gets_nothing_of_it(waiting, links, rival):
    answer = waiting.open(links("owner", "--org", rival.id, "--email", "kim@example.com"))

    assert answer.headers["Location"] == "/dashboard"


def test_another_page_gets_nothing_of_it(waiting, links, app):
    waiting.open(links("owner", "--email", "kim@example.com"))
    sealed = waiting.client.get_cookie("finderfee-kept").value
    headers = {"Cookie": f"finderfee={waiting.cookie}; finderfee-kept={sealed}"}
    with app.test_request_context("/dashboard/another", headers=headers):
        assert pending_forms.restore() is None


def test_it_waits_for_a_quarter_of_an_hour(waiting, links, monkeypatch):
    later = clock.now() + timedelta(minutes=15, seconds=1)
    monkeypatch.setattr(clock, "now", lambda: later)
    assert waiting.open(links("owner", "--email", "kim@example.com")).headers["Location"] == "/dashboard"


@pytest.mark.parametrize("forged", ["x", "%00", "A" * 3000])
def test_a_forged_one_is_none(kim, links, forged):
    kim.client.set_cookie("finderfee-kept", forged)

    assert kim.open(_PAGE).text == "None"
    assert kim.open(links("owner")).headers["Location"] == "/dashboard"


@pytest.mark.parametrize("page", ["", "//evil.test", "https://evil.test/dashboard", "/r/x", "/dashboard/..//evil.test"])
def test_foreign_page_is_replaced_by_the_address_of_the_form(kim, page):
    _age()

    assert kim.send(_PAGE, {"_page": page}).headers["Location"] == "/sign-in?next=%2Fdashboard%2Ftest-of-kept"


def test_too_long_form_is_not_stored_and_its_page_is_still_found(kim):
    _age()
    answer = kim.send(_PAGE, {"long": secrets.token_hex(4_000)})

    assert answer.headers["Location"].startswith("/sign-in?next=")
    assert kim.client.get_cookie("finderfee-kept") is None


def test_the_cookie_is_kept_from_scripts_and_other_sites(kim):
    _age()
    (cookie,) = kim.send(_PAGE, _TYPED).headers.getlist("Set-Cookie")

    assert cookie.startswith("finderfee-kept=")
    assert {"HttpOnly", "SameSite=Lax", "Path=/", "Max-Age=900"} <= set(re.split("; ", cookie))
    assert len(cookie) < 4096


def test_signing_out_forgets_it(waiting):
    waiting.send("/sign-out")

    assert waiting.client.get_cookie("finderfee-kept") is None


def test_a_form_of_somebody_who_is_not_signed_in_leads_to_sign_in_alone(app):
    answer = Visitor(app).send(_PAGE, _TYPED)

    assert answer.status_code == 303
    assert answer.headers.getlist("Set-Cookie") == []
