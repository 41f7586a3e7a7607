"""Two-factor authentication: set-up, sign-in, replay, guessing, recovery codes, the rule of an organization."""

import re
import uuid
from functools import partial

import pytest

from adapters import clock
from domain.organization import totp
from models import db
from tests.pages.sign_in.test_member_links import add_member, request_link, sign_in
from tests.support.api.concurrency import run_concurrently
from tests.support.outside.visitor import Visitor

PAGE = "/dashboard/settings/security/two-factor"


@pytest.fixture
def ada(brand):
    """The email address of a Manager of the brand."""
    return add_member(brand, "Manager")


def set_up(browser):
    """Set up a second factor, and return its secret and the recovery codes."""
    secret, page = _turn_on(browser)
    codes = re.findall(r"<code>([a-z0-9-]{19})</code>", page)
    assert len(codes) == 10
    return secret, codes


def _turn_on(browser):
    """Turn a second factor on, and return its secret and the page that follows."""
    secret = re.search(r'name="secret" value="(\w+)"', browser.send(f"{PAGE}/start").text)[1]
    return secret, browser.send(f"{PAGE}/enable", {"code": code_of(secret), "secret": secret}).text


def code_of(secret, steps=0):
    """Return the code of a secret, so many steps from now."""
    return totp.code_of(secret, totp.step_at(clock.now()) + steps)


def forget_last_step(email):
    """Make the present code count again, as if time had passed."""
    with db.any_org_work():
        db.db.run("update second_factor set last_step = 0 where email = %s returning 1", (email,))


def test_enabled_factor_is_asked_at_sign_in(app, ada):
    secret, _ = set_up(sign_in(app, ada))
    forget_last_step(ada)
    visitor = Visitor(app)
    link = request_link(visitor, ada)
    page = visitor.open(link)

    assert page.status_code == 200
    assert '<label for="code">Code</label>' in page.text
    assert visitor.cookie is None
    assert visitor.send(link, {}).status_code == 422
    assert visitor.send(link, {"code": "000000"}).status_code == 422
    assert visitor.cookie is None
    assert visitor.send(link, {"code": code_of(secret)}).headers["Location"] == "/dashboard"
    assert visitor.open(link).status_code == 410


def test_code_that_was_used_is_refused(app, ada):
    secret, _ = set_up(sign_in(app, ada))
    visitor = Visitor(app)
    link = request_link(visitor, ada)

    assert visitor.send(link, {"code": code_of(secret)}).status_code == 422  # used to turn it on
    next_code = code_of(secret, 1)
    assert visitor.send(link, {"code": next_code}).status_code == 303
    again = Visitor(app)
    assert again.send(request_link(again, ada), {"code": next_code}).status_code == 422


def test_concurrent_uses_of_one_code_sign_in_once(app, ada):
    secret, codes = set_up(sign_in(app, ada))
    for code in (code_of(secret, 1), codes[0]):
        with db.any_org_work():
            db.db.run("delete from sign_in_letter returning 1")  # one address requests three links only
        visitors = [Visitor(app) for _ in range(3)]
        links = [request_link(visitor, ada) for visitor in visitors]
        sends = [partial(visitor.send, link, {"code": code}) for visitor, link in zip(visitors, links, strict=True)]
        assert sorted(answer.status_code for answer in run_concurrently(*sends)) == [303, 422, 422]


def test_recovery_code_counts_once_in_any_form(app, ada):
    _, codes = set_up(sign_in(app, ada))
    first, second = Visitor(app), Visitor(app)
    typed = codes[3].upper().replace("-", " ")

    assert first.send(request_link(first, ada), {"code": typed}).status_code == 303
    assert second.send(request_link(second, ada), {"code": codes[3]}).status_code == 422
    assert "9 recovery codes left" in first.open("/dashboard/settings/security").text


def test_five_wrong_codes_block_right_ones_for_15_minutes(app, ada):
    secret, codes = set_up(sign_in(app, ada))
    forget_last_step(ada)
    visitor = Visitor(app)
    link = request_link(visitor, ada)
    for number in range(5):
        answer = visitor.send(link, {"code": f"00000{number}"})
    assert "Wait 15 minutes" in answer.text

    for code in (code_of(secret), codes[0]):
        assert visitor.send(link, {"code": code}).status_code == 422
    with db.any_org_work():
        (wait_s,) = db.db.row(
            "select extract(epoch from blocked_until - now()) from second_factor where email = %s", (ada,)
        )
        db.db.run("update second_factor set blocked_until = now() where email = %s returning 1", (ada,))
    assert 890 <= wait_s <= 900
    assert visitor.send(link, {"code": code_of(secret)}).status_code == 303


def test_secret_is_sealed_and_codes_are_hashed(app, ada):
    secret, codes = set_up(sign_in(app, ada))
    with db.any_org_work():
        rows = db.db.run("select f::text || c::text from second_factor f join recovery_code c using (email)")

    assert not any(text in row for (row,) in rows for text in (secret, codes[0], codes[0].replace("-", "")))


def test_turning_it_on_ends_all_other_sessions_of_the_person(app, brand, rival, ada):
    add_member(rival, "Viewer", ada)
    brand.program()
    brand.affiliate("ada", email=ada)
    places = (str(brand.id), str(rival.id), "account")
    browsers = [Visitor(app) for _ in places]
    for browser, place in zip(browsers, places, strict=True):
        browser.send(request_link(browser, ada), {"destination": place})
    pages = ("/dashboard", "/dashboard", "/portal")
    assert [browser.open(page).status_code for browser, page in zip(browsers, pages, strict=True)] == [200] * 3
    other = sign_in(app, add_member(brand, "Viewer"))
    assert "Your other browsers are signed out" in _turn_on(browsers[0])[1]

    assert [browser.open(page).status_code for browser, page in zip(browsers, pages, strict=True)] == [200, 303, 303]
    assert other.open("/dashboard").status_code == 200


def test_turning_off_and_new_codes_need_a_code(app, ada):
    browser = sign_in(app, ada)
    secret, codes = set_up(browser)

    assert browser.send(f"{PAGE}/off", {"code": "000000"}).status_code == 400
    new_page = browser.send(f"{PAGE}/codes", {"code": codes[0]}).text
    assert codes[1] not in new_page
    assert browser.send(f"{PAGE}/codes", {"code": codes[1]}).status_code == 400
    assert browser.send(f"{PAGE}/off", {"code": code_of(secret, 1)}).status_code == 303
    again = Visitor(app)
    assert again.open(request_link(again, ada)).status_code == 303


def test_viewer_may_set_it_up(app, brand):
    assert set_up(sign_in(app, add_member(brand, "Viewer")))


def test_code_counts_in_every_organization_of_the_person(app, brand, rival, ada):
    add_member(rival, "Viewer", ada)
    browser = Visitor(app)
    link = request_link(browser, ada)
    browser.send(link, {"destination": str(brand.id)})
    secret, _ = set_up(browser)
    other = Visitor(app)
    link = request_link(other, ada)

    assert other.send(link, {"destination": str(rival.id)}).status_code == 422
    assert other.send(link, {"destination": str(rival.id), "code": code_of(secret, 1)}).status_code == 303


def test_member_without_one_is_led_to_set_it_up_first(app, brand, ada):
    browser, owner = sign_in(app, ada), brand.person("Owner")
    assert owner.call("PATCH", "/api/organizations/me", {"requireSecondFactor": True}).status_code == 200

    for page in ("/dashboard", "/dashboard/affiliates", "/dashboard/settings/security"):
        answer = browser.open(page)
        assert (answer.status_code, answer.headers["Location"]) == (303, PAGE)
    assert browser.send("/dashboard/programs/new", {"name": "x"}).headers["Location"] == PAGE
    assert brand.rows("select 1 from program") == []
    assert "requires two-factor authentication" in browser.open(PAGE).text
    set_up(browser)
    assert browser.open("/dashboard").status_code == 200


def test_requirement_is_turned_off_with_a_fresh_login_only(app, brand, flask):
    browser = Visitor(app)
    browser.open(flask.json("sign-in", "owner", "--org", brand.id, "--email", "nora@example.com")["url"])
    set_up(browser)
    page = "/dashboard/settings/security"
    assert browser.send(page, {"requireSecondFactor": "on"}).status_code == 303
    _age_login("nora@example.com", "2 hours")

    assert browser.send(page, {}).headers["Location"].startswith("/sign-in?next=")
    assert brand.rows("select require_second_factor from organization") == [(True,)]


@pytest.mark.parametrize(("age", "is_fresh"), [("9 minutes", True), ("11 minutes", False)])
def test_mailed_login_is_fresh_for_ten_minutes(app, brand, age, is_fresh):
    admin = add_member(brand, "Admin")
    browser = sign_in(app, admin)
    _age_login(admin, age)
    answer = browser.send("/dashboard/api-keys", {"name": "server", "scope": "read"})

    assert answer.status_code == (200 if is_fresh else 303)


@pytest.mark.parametrize(("age", "is_fresh"), [("59 minutes", True), ("61 minutes", False)])
def test_login_from_the_shell_is_fresh_for_an_hour(app, brand, flask, age, is_fresh):
    browser, email = Visitor(app), f"olga-{uuid.uuid4().hex}@example.com"
    browser.open(flask.json("sign-in", "owner", "--org", brand.id, "--email", email)["url"])
    _age_login(email, age)
    answer = browser.send("/dashboard/api-keys", {"name": "server", "scope": "read"})

    assert answer.status_code == (200 if is_fresh else 303)


def test_code_renews_the_login_and_brings_the_form_back(app, brand):
    admin = add_member(brand, "Admin")
    browser = sign_in(app, admin)
    secret, _ = set_up(browser)
    _age_login(admin, "3 hours")
    former = browser.cookie
    redirect = browser.send("/dashboard/api-keys", {"name": "My server", "scope": "read"})
    page = browser.open(redirect.headers["Location"]).text
    assert 'action="/sign-in/confirm"' in page

    assert browser.send("/sign-in/confirm", {"code": "000000", "next": "/dashboard/api-keys"}).status_code == 422
    answer = browser.send("/sign-in/confirm", {"code": code_of(secret, 1), "next": "/dashboard/api-keys"})
    assert (answer.status_code, answer.headers["Location"]) == (303, "/dashboard/api-keys")
    assert browser.cookie != former
    assert 'value="My server"' in browser.open("/dashboard/api-keys").text
    assert browser.send("/dashboard/api-keys", {"name": "My server", "scope": "read"}).status_code == 200


def test_code_without_a_session_or_factor_renews_nothing(app, visitor, ada):
    assert visitor.send("/sign-in/confirm", {"code": "000000"}).headers["Location"] == "/sign-in"
    assert sign_in(app, ada).send("/sign-in/confirm", {"code": "000000"}).status_code == 422


def test_operator_turns_it_off_for_a_person_who_lost_everything(app, ada, flask):
    set_up(sign_in(app, ada))
    assert flask("sign-in", "reset-second-factor", "--email", ada.upper())[0] == 0
    visitor = Visitor(app)

    assert visitor.open(request_link(visitor, ada)).status_code == 303
    assert flask("sign-in", "reset-second-factor", "--email", ada)[0] == 1


def _age_login(email, age):
    with db.any_org_work():
        db.db.run(
            "update web_session set signed_in_at = now() - %s::interval where email = %s returning 1", (age, email)
        )
