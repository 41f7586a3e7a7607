"""A person's other browsers: ended by signing out everywhere, and by another role. Source: the pages' journeys, 12."""

import pytest
from playwright.sync_api import expect

from tests.support.pages.navigation import press
from tests.support.settings_overrides import override_settings

_KEPT_S = 1


@pytest.fixture
def browsers(window, enter, payroll, site, monkeypatch):
    """Two browsers of the Owner that both look at their screens, and one of somebody else there."""
    override_settings(monkeypatch, web={"public_base_url": site, "key_cache_s": _KEPT_S})
    return [enter(window(), email=f"{who}@example.com") for who in ("ada", "ada", "bo")]


def _is_signed_in(page):
    page.goto("/dashboard/conversions")
    return page.get_by_role("heading", level=1).inner_text() == "Conversions"


def test_sign_out_everywhere_ends_only_the_persons_own_sessions(browsers, site):
    here, there, somebody = browsers
    assert all(_is_signed_in(page) for page in browsers)
    press(here.get_by_role("link", name="Settings"))
    press(here.get_by_role("button", name="Sign out everywhere"))
    expect(here).to_have_url(f"{site}/sign-in")

    there.wait_for_timeout(1_000 * _KEPT_S)
    assert not _is_signed_in(there)
    assert there.url == f"{site}/sign-in?next=%2Fdashboard%2Fconversions"
    assert _is_signed_in(somebody)


def test_role_change_ends_earlier_sessions(browsers, window, enter):
    here, there, somebody = browsers
    here.goto("/dashboard/programs/new")
    expect(here.get_by_role("button", name="Create program")).to_be_visible()
    now = enter(window(), "Viewer", "ada@example.com")

    there.wait_for_timeout(1_000 * _KEPT_S)
    here.get_by_role("textbox", name="Name").fill("Knives")
    here.get_by_role("textbox", name="Commission").fill("20")
    press(here.get_by_role("button", name="Create program"))
    expect(here.get_by_role("heading", level=1)).to_have_text("Sign in")
    assert not _is_signed_in(there)
    assert _is_signed_in(somebody)
    assert _is_signed_in(now)
    expect(now.get_by_role("link", name="Record one by hand")).to_have_count(0)
