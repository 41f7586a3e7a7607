"""From an invitation to the team to a removal, with scripts and without, and the pages at the door in every look.

A Manager signs in by mail with a code of an authenticator app, and is removed. Source: the issue of the team.
"""

import re

import pytest
from playwright.sync_api import expect

from adapters import clock
from domain.organization import totp
from models import db
from tests.support.pages.mailed_links import read_newest_link
from tests.support.pages.navigation import press
from tests.support.pages.page_faults import list_faults, list_overflow_faults
from tests.support.settings_overrides import override_settings

TEAM = "/dashboard/settings/team"
_LOOKS = [("light", 1280), ("dark", 320)]


@pytest.fixture(params=[True, False], ids=["scripts", "no scripts"])
def has_scripts(request):
    """Return whether the windows run scripts."""
    return request.param


@pytest.fixture
def open_window(has_scripts, window):
    """Return a function that opens a narrow window; errors of forms are expected."""

    def open_narrow():
        return window(
            java_script_enabled=has_scripts,
            viewport={"width": 320, "height": 800},
            expected_statuses=(400, 404, 409, 410, 422),
        )

    return open_narrow


@pytest.fixture
def check(has_scripts):
    """Return a function that asserts a page's heading, and that it has no faults in any look."""

    def assert_faultless(page, heading):
        expect(page.get_by_role("heading", level=1)).to_have_text(heading)
        faults = list(list_faults(page, _LOOKS) if has_scripts else list_overflow_faults(page, 320))
        assert faults == [], page.url

    return assert_faultless


@pytest.fixture
def owner(open_window, enter, payroll, site, monkeypatch):
    """Return the window of an Owner; sessions are looked up at each request."""
    override_settings(monkeypatch, web={"public_base_url": site, "key_cache_s": 0})
    return enter(open_window(), email="olga@example.com")


def _invite(owner, email):
    """Invite a Manager, and return the link in the email."""
    owner.goto(TEAM)
    owner.get_by_role("textbox", name="Email").fill(email)
    owner.get_by_label("Role").select_option("Manager")
    press(owner.get_by_role("button", name="Send invitation"))
    expect(owner.get_by_role("status")).to_have_text("Invitation sent.")
    return read_newest_link(email, "team.invite")


def _request_link(page, email):
    """Request a link in a window, and return it from the email."""
    page.goto("/sign-in?next=/dashboard/affiliates")
    page.get_by_role("textbox", name="Email").fill(email)
    press(page.get_by_role("button", name="Send me a link"))
    return read_newest_link(email)


def _submit_code(page, code, button):
    page.get_by_role("textbox", name="Code").fill(code)
    press(page.get_by_role("button", name=button))


def _code_of(secret, *, email=None):
    """Return the present code; with an `email` the codes that this person used count again, as if time had passed."""
    if email is not None:
        with db.any_org_work():
            db.db.run("update second_factor set last_step = 0 where email = %s returning 1", (email,))
    return totp.code_of(secret, totp.step_at(clock.now()))


def _set_up_second_factor(page, email, check):
    """Set up an authenticator app after a fresh login, and return its secret and a recovery code."""
    page.goto("/dashboard/settings/security")
    check(page, "Security")
    press(page.get_by_role("link", name="Set up"))
    check(page, "Two-factor authentication")
    press(page.get_by_role("button", name="Show QR code"))
    expect(page.get_by_role("img", name="QR code")).to_be_visible()
    check(page, "Two-factor authentication")
    secret = page.get_by_label("Or enter this key in the app").input_value()
    _submit_code(page, "000000", "Turn on")
    expect(page.get_by_role("alert")).to_be_visible()
    check(page, "Two-factor authentication")
    _submit_code(page, _code_of(secret), "Turn on")
    codes = page.get_by_role("list", name="Recovery codes").get_by_role("listitem")
    expect(codes).to_have_count(10)
    check(page, "Two-factor authentication")
    return secret, codes.first.inner_text()


def test_invited_manager_signs_in_with_a_code_and_is_removed(owner, open_window, check, email):
    invitation = _invite(owner, email)
    check(owner, "Team")
    scanner, manager = open_window(), open_window()
    scanner.goto(invitation)
    check(scanner, re.compile("^Join "))
    assert scanner.context.cookies() == []
    manager.goto(invitation)
    press(manager.get_by_role("button", name="Accept invitation"))
    expect(manager.get_by_role("heading", level=1)).to_have_text("Overview")
    scanner.goto(invitation)
    check(scanner, "This invitation is no longer valid")

    manager.goto(_request_link(manager, email))  # an invitation is no fresh login
    expect(manager.get_by_role("heading", level=1)).to_have_text("Affiliates")
    secret, recovery_code = _set_up_second_factor(manager, email, check)
    press(manager.get_by_role("link", name="I saved them"))
    manager.locator("summary", has_text="Menu:").click()
    press(manager.get_by_role("button", name="Sign out"))

    link = _request_link(manager, email)
    check(manager, "Check your email")
    manager.goto(link)
    check(manager, "Enter your code")
    _submit_code(manager, "123456", "Sign in")
    check(manager, "Enter your code")
    _submit_code(manager, _code_of(secret, email=email), "Sign in")
    expect(manager.get_by_role("heading", level=1)).to_have_text("Affiliates")
    other = open_window()
    other.goto(_request_link(other, email))
    _submit_code(other, recovery_code.upper(), "Sign in")
    expect(other.get_by_role("heading", level=1)).to_have_text("Affiliates")

    owner.goto(TEAM)
    press(owner.get_by_role("link", name=email))
    expect(owner.get_by_role("main")).to_contain_text("Two-factor authentication")
    check(owner, email)
    press(owner.get_by_role("button", name="Remove member"))
    expect(owner.get_by_role("status")).to_have_text("Removed.")
    expect(owner.get_by_role("table", name="Members")).not_to_contain_text(email)
    for page in (manager, other):
        page.goto("/dashboard/affiliates")
        check(page, "Sign in")


def test_person_of_two_organizations_chooses_and_switches(open_window, check, payroll, rival, email):
    with db.any_org_work():
        db.db.run(
            "insert into member (id, organization_id, email, role)"
            " select gen_random_uuid(), id, %s, 'Manager' from organization where id = any(%s) returning 1",
            (email, [payroll.brand.id, rival.id]),
        )
    page = open_window()
    page.goto(_request_link(page, email))
    check(page, "Where do you want to go?")
    press(page.get_by_role("button", name="Sign in"))
    page.locator("summary", has_text="Menu:").click()
    press(page.get_by_role("link", name="Organization:"))
    check(page, "Switch organization")
    options = page.get_by_role("main").get_by_role("button", name=re.compile("Manager"))
    expect(options).to_have_count(2)
    other = page.locator("main button:not([aria-current])")
    name = other.locator("b").inner_text()
    press(other)
    expect(page.get_by_role("heading", level=1)).to_have_text("Overview")
    page.locator("summary", has_text="Menu:").click()
    expect(page.get_by_role("link", name="Organization:")).to_contain_text(name)


def test_member_without_a_second_factor_sets_one_up_when_it_is_required(owner, open_window, check, email):
    manager = open_window()
    manager.goto(_invite(owner, email))
    press(manager.get_by_role("button", name="Accept invitation"))
    owner.goto("/dashboard/settings/security")
    owner.get_by_role("checkbox", name="Require two-factor authentication for all members").check()
    press(owner.get_by_role("button", name="Save"))
    check(owner, "Two-factor authentication")  # the Owner has none either

    manager.goto("/dashboard/payouts")
    check(manager, "Two-factor authentication")
    press(manager.get_by_role("button", name="Show QR code"))
    check(manager, "Sign in")
    manager.get_by_role("textbox", name="Email").fill(email)
    press(manager.get_by_role("button", name="Send me a link"))
    manager.goto(read_newest_link(email))
    press(manager.get_by_role("button", name="Show QR code"))
    secret = manager.get_by_label("Or enter this key in the app").input_value()
    _submit_code(manager, _code_of(secret), "Turn on")
    manager.goto("/dashboard/payouts")
    expect(manager.get_by_role("heading", level=1)).to_have_text("Payouts")
