"""Sign-in with an identity provider over real HTTP, in a real browser. Source: the pages' journeys, 12 and 13."""

from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from models import db
from tests.support.outside.openid_provider import sign_in_with_provider
from tests.support.pages.navigation import press

_AXE = Axe()
_RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}


@pytest.fixture
def provider(app, brand, site, monkeypatch):
    brand.program()
    with sign_in_with_provider(brand, monkeypatch, web={"public_base_url": site, "key_cache_s": 0}) as openid_provider:
        yield openid_provider


@pytest.fixture
def page(window, provider):
    return window(other_origin=provider.issuer, expected_statuses=(403, 503))


def _log_in(page, path="/sign-in"):
    page.goto(path)
    press(page.get_by_role("link", name="Sign in with Acme ID", exact=True))
    press(page.get_by_role("link", name="Log in"))


def _age_sessions(provider, minutes, *columns):
    assignments = ", ".join(f"{name} = {name} - interval '{minutes} minutes'" for name in columns)
    with db.any_org_work():
        db.db.run(f"update web_session set {assignments} where subject = %s returning 1", (provider.person["sub"],))


def _return_from_provider(page, **changes):
    """Return from the provider with changed parameters in the address, and give the address; `...` removes one."""
    page.goto("/sign-in")
    press(page.get_by_role("link", name="Sign in with Acme ID", exact=True))
    callback = page.get_by_role("link", name="Log in").get_attribute("href")
    params = {name: values[0] for name, values in parse_qs(urlsplit(callback).query).items()} | changes
    url = f"{callback.partition('?')[0]}?{urlencode({name: text for name, text in params.items() if text is not ...})}"
    page.goto(url)
    return url


def _is_signed_out(page):
    heading = page.get_by_role("heading", level=1).inner_text()
    return heading == "Not signed in" and "finderfee" not in {cookie["name"] for cookie in page.context.cookies()}


@pytest.mark.parametrize("has_refresh_token", [True, False])
def test_role_change_at_the_provider_takes_effect(page, provider, site, has_refresh_token):
    if not has_refresh_token:
        provider.discovery_changes = {"scopes_supported": ["openid"]}
    provider.remembers_login = True
    page.goto("/sign-in?next=/dashboard/programs")
    press(page.get_by_role("link", name="Sign in with Acme ID", exact=True))
    expect(page).to_have_url(f"{site}/dashboard/programs")
    expect(page.get_by_role("link", name="New program")).to_be_visible()

    provider.person["role"] = "Viewer"
    _age_sessions(provider, 16, "refreshed_at", "refresh_from")
    page.reload()
    expect(page).to_have_url(f"{site}/dashboard/programs")
    expect(page.get_by_role("link", name="New program")).to_have_count(0)
    expect(page.get_by_text("Viewer")).to_be_visible()

    provider.person["role"] = "none of ours"
    _age_sessions(provider, 16, "refreshed_at", "refresh_from")
    page.goto("/dashboard/programs")
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in" if has_refresh_token else "Not signed in")


def test_payout_form_keeps_its_values_over_a_fresh_login(page, provider, site):
    _log_in(page, "/sign-in?next=/dashboard/api-keys")
    _age_sessions(provider, 61, "signed_in_at")
    provider.remembers_login = True  # the service requests a fresh login nevertheless
    page.get_by_role("textbox", name="Name").fill("for the shop")
    press(page.get_by_role("button", name="Create key"))
    expect(page.get_by_text("Sign in again to continue")).to_be_visible()
    press(page.get_by_role("link", name="Sign in with Acme ID", exact=True))
    press(page.get_by_role("link", name="Log in"))

    expect(page).to_have_url(f"{site}/dashboard/api-keys")
    expect(page.get_by_role("textbox", name="Name")).to_have_value("for the shop")
    press(page.get_by_role("button", name="Create key"))
    expect(page.get_by_role("main")).to_contain_text("ff_live_")


def test_wrong_provider_response_does_not_sign_in(page, provider):
    for changes in (
        {"state": "another"},
        {"state": ...},
        {"iss": "https://id.example.org"},
        {"iss": ...},
        {"code": "x"},
    ):
        _return_from_provider(page, **changes)
        assert _is_signed_out(page), changes
    for changed in ({"nonce": "another"}, {"iss": "https://id.example.org"}, {"aud": "another"}, {"role": "Emperor"}):
        provider.claim_changes = changed
        _return_from_provider(page)
        assert _is_signed_out(page), changed


def test_provider_response_works_once_and_only_in_its_browser(page, window, provider, site):
    url = _return_from_provider(page)
    expect(page).to_have_url(f"{site}/dashboard")
    press(page.get_by_role("button", name="Sign out"))
    page.goto(url)
    assert _is_signed_out(page)

    stranger = window(other_origin=provider.issuer, expected_statuses=(403,))
    stranger.goto(_read_callback_url(page))
    assert _is_signed_out(stranger)


def _read_callback_url(page):
    page.goto("/sign-in")
    press(page.get_by_role("link", name="Sign in with Acme ID", exact=True))
    return page.get_by_role("link", name="Log in").get_attribute("href")


@pytest.mark.parametrize("elsewhere", ["//evil.example", "https://evil.example/dashboard", "/\\evil.example"])
def test_sign_in_never_redirects_to_another_site(page, provider, site, elsewhere):
    _log_in(page, f"/sign-in?{urlencode({'next': elsewhere})}")

    expect(page).to_have_url(f"{site}/dashboard")


def test_two_tabs_sign_in_at_the_same_time(page, provider, site):
    other = page.context.new_page()
    for tab in (page, other):
        tab.goto("/sign-in?next=/dashboard/payouts")
        press(tab.get_by_role("link", name="Sign in with Acme ID", exact=True))
    for tab in (page, other):
        press(tab.get_by_role("link", name="Log in"))
        expect(tab).to_have_url(f"{site}/dashboard/payouts")


def test_sign_in_pages_are_accessible(page, provider, site):
    for path in ("/sign-in", "/sign-in/callback?state=none"):
        for width, scheme in ((320, "dark"), (1280, "light")):
            page.set_viewport_size({"width": width, "height": 720})
            page.emulate_media(color_scheme=scheme)
            page.goto(path)
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            violations = _AXE.run(page, options=_RULES).response["violations"]
            assert [violation["id"] for violation in violations] == [], (path, width)
