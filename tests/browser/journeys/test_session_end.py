"""Sessions in other browsers end by signing out everywhere and by a role change. Source: the pages' journeys, 12."""

import pytest
from playwright.sync_api import expect

from tests.support.pages.navigation import press
from tests.support.settings_overrides import override_settings

_SESSION_CACHE_S = 1


@pytest.fixture
def browsers(window, enter, payroll, site, monkeypatch):
    """Return two browsers of an Owner and one of another member, all signed in."""
    override_settings(monkeypatch, web={"public_base_url": site, "key_cache_s": _SESSION_CACHE_S})
    return [enter(window(), email=f"{name}@example.com") for name in ("ada", "ada", "bo")]


def _is_signed_in(page):
    page.goto("/dashboard/conversions")
    return page.get_by_role("heading", level=1).inner_text() == "Conversions"


def test_sign_out_everywhere_ends_only_the_persons_own_sessions(browsers, site):
    first, second, other_member = browsers
    assert all(_is_signed_in(page) for page in browsers)
    press(first.get_by_role("link", name="Settings"))
    press(first.get_by_role("button", name="Sign out everywhere"))
    expect(first).to_have_url(f"{site}/sign-in")

    second.wait_for_timeout(1_000 * _SESSION_CACHE_S)
    assert not _is_signed_in(second)
    assert second.url == f"{site}/sign-in?next=%2Fdashboard%2Fconversions"
    assert _is_signed_in(other_member)


def test_role_change_ends_earlier_sessions(browsers, window, enter):
    first, second, other_member = browsers
    first.goto("/dashboard/programs/new")
    expect(first.get_by_role("button", name="Create program")).to_be_visible()
    viewer = enter(window(), "Viewer", "ada@example.com")

    second.wait_for_timeout(1_000 * _SESSION_CACHE_S)
    first.get_by_role("textbox", name="Name").fill("Knives")
    first.get_by_role("textbox", name="Commission").fill("20")
    press(first.get_by_role("button", name="Create program"))
    expect(first.get_by_role("heading", level=1)).to_have_text("Sign in")
    assert not _is_signed_in(second)
    assert _is_signed_in(other_member)
    assert _is_signed_in(viewer)
    expect(viewer.get_by_role("link", name="Add conversion")).to_have_count(0)
