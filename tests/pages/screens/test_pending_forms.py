"""A login that is too old for money: the page redirects to sign-in, and the same person finds the form restored."""

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
from tests.support.api_description import ApiDescriptionChecker
from tests.support.outside.visitor import Visitor

_PAGE = "/dashboard/test-of-kept"
_TYPED = {"total": "12,539.91", "of": ["a", "b"], "_key": "k", "_page": f"{_PAGE}?program=1"}


@pytest.fixture(scope="module")
def app():
    """The application with one more page: its form needs a fresh login, and it shows the restored form."""
    blueprint = Blueprint("test_of_kept", __name__)

    @blueprint.get(_PAGE)
    @screen("member")
    def show_form():
        form = pending_forms.restore()
        return Response(repr(form and dict(form.values)))

    @blueprint.post(_PAGE)
    @screen("member", uses=(create_api_key,))
    def send_form():
        return screens.redirect(f"/dashboard?made={api_client.call(create_api_key, body={}).status}")

    application = create_app()
    application.register_blueprint(blueprint)
    application.extensions["description"] = ApiDescriptionChecker(application)
    return application


def _age_login():
    with db.any_org_work():
        db.db.run("update web_session set signed_in_at = now() - interval '61 minutes' where email = 'kim@example.com'")


@pytest.fixture
def kim(visitor, links):
    visitor.open(links("owner", "--email", "kim@example.com"))
    return visitor


@pytest.fixture
def kim_with_stored_form(kim):
    """A browser of Kim, with a form that waits for a fresh login."""
    _age_login()
    kim.send(_PAGE, _TYPED)
    return kim


def test_login_within_the_hour_needs_no_new_sign_in(kim):
    assert kim.send(_PAGE, _TYPED).headers["Location"] == "/dashboard?made=201"


def test_old_login_redirects_to_sign_in_without_effect(kim, brand):
    _age_login()
    answer = kim.send(_PAGE, _TYPED)

    assert answer.status_code == 303
    assert answer.headers["Location"] == "/sign-in?next=%2Fdashboard%2Ftest-of-kept%3Fprogram%3D1"
    assert brand.rows("select count(*) from api_key where name = ''") == [(1,)]
    assert "12,539.91" not in " ".join(f"{name}: {value}" for name, value in answer.headers)


def test_old_login_stays_valid_for_other_pages(kim_with_stored_form):
    assert kim_with_stored_form.open("/dashboard").status_code == 200
    assert "What you typed is kept" in kim_with_stored_form.open("/sign-in").text


def test_fresh_login_restores_the_form_once(kim_with_stored_form, links):
    answer = kim_with_stored_form.open(links("owner", "--email", "kim@example.com"))

    assert answer.headers["Location"] == f"{_PAGE}?program=1"
    assert kim_with_stored_form.open(_PAGE).text == repr({"total": ["12,539.91"], "of": ["a", "b"]})
    assert kim_with_stored_form.open(_PAGE).text == "None"
    assert kim_with_stored_form.send(_PAGE, _TYPED).headers["Location"] == "/dashboard?made=201"


def test_another_persons_login_discards_the_form(kim_with_stored_form, links):
    answer = kim_with_stored_form.open(links("owner", "--email", "bo@example.com"))

    assert answer.headers["Location"] == "/dashboard"
    assert kim_with_stored_form.open(_PAGE).text == "None"
    kim_with_stored_form.open(links("owner", "--email", "kim@example.com"))
    assert kim_with_stored_form.open(_PAGE).text == "None"


def test_form_is_not_restored_at_another_brand(kim_with_stored_form, links, rival):
    answer = kim_with_stored_form.open(links("owner", "--org", rival.id, "--email", "kim@example.com"))

    assert answer.headers["Location"] == "/dashboard"


def test_form_is_not_restored_on_another_page(kim_with_stored_form, links, app):
    kim_with_stored_form.open(links("owner", "--email", "kim@example.com"))
    cookie = kim_with_stored_form.client.get_cookie("finderfee-kept").value
    headers = {"Cookie": f"finderfee={kim_with_stored_form.cookie}; finderfee-kept={cookie}"}
    with app.test_request_context("/dashboard/another", headers=headers):
        assert pending_forms.restore() is None


def test_stored_form_expires_after_15_minutes(kim_with_stored_form, links, monkeypatch):
    later = clock.now() + timedelta(minutes=15, seconds=1)
    monkeypatch.setattr(clock, "now", lambda: later)
    assert kim_with_stored_form.open(links("owner", "--email", "kim@example.com")).headers["Location"] == "/dashboard"


@pytest.mark.parametrize("forged", ["x", "%00", "A" * 3000])
def test_forged_form_is_ignored(kim, links, forged):
    kim.client.set_cookie("finderfee-kept", forged)

    assert kim.open(_PAGE).text == "None"
    assert kim.open(links("owner")).headers["Location"] == "/dashboard"


@pytest.mark.parametrize("page", ["", "//evil.test", "https://evil.test/dashboard", "/r/x", "/dashboard/..//evil.test"])
def test_foreign_page_is_replaced_by_the_address_of_the_form(kim, page):
    _age_login()

    assert kim.send(_PAGE, {"_page": page}).headers["Location"] == "/sign-in?next=%2Fdashboard%2Ftest-of-kept"


def test_too_long_form_is_not_stored_and_redirects_to_sign_in(kim):
    _age_login()
    answer = kim.send(_PAGE, {"long": secrets.token_hex(4_000)})

    assert answer.headers["Location"].startswith("/sign-in?next=")
    assert kim.client.get_cookie("finderfee-kept") is None


def test_cookie_is_httponly_and_same_site(kim):
    _age_login()
    (cookie,) = kim.send(_PAGE, _TYPED).headers.getlist("Set-Cookie")

    assert cookie.startswith("finderfee-kept=")
    assert {"HttpOnly", "SameSite=Lax", "Path=/", "Max-Age=900"} <= set(re.split("; ", cookie))
    assert len(cookie) < 4096


def test_sign_out_discards_the_form(kim_with_stored_form):
    kim_with_stored_form.send("/sign-out")

    assert kim_with_stored_form.client.get_cookie("finderfee-kept") is None


def test_visitors_form_redirects_to_sign_in_without_being_stored(app):
    answer = Visitor(app).send(_PAGE, _TYPED)

    assert answer.status_code == 303
    assert answer.headers.getlist("Set-Cookie") == []
