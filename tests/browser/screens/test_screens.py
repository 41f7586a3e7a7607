"""The screens of signed-in users in a real browser. Source: the pages' interface."""

import itertools
import re

import pytest
from playwright.sync_api import expect

from tests.support.pages.navigation import press, press_enter
from tests.support.pages.screens import is_poll

_START_PAGES = {
    "owner": ("/dashboard", "Dashboard", "Overview"),
    "affiliate": ("/portal", "Portal", "Home"),
    "operator": ("/console", "Console", "Now"),
}
_BACKGROUNDS = {"light": "rgb(245, 247, 244)", "dark": "rgb(15, 20, 17)"}
_CLIPPED = """
() => [...document.querySelectorAll('h1, h2, p, dd, dt, a, button, .chip')]
  .filter(element => element.offsetParent && getComputedStyle(element).display !== 'inline')
  .filter(element => element.scrollWidth > element.clientWidth + 1)
  .map(element => element.outerHTML.slice(0, 80))
"""


@pytest.mark.parametrize("role", _START_PAGES)
def test_sign_in_link_works_once(window, link, site, role):
    home, area, heading = _START_PAGES[role]
    url, page = link(role), window()
    page.goto(url)

    assert page.url == site + home
    assert page.get_by_role("heading", level=1).inner_text() == heading
    assert (
        page.get_by_role("navigation", name=area).get_by_role("link", name=heading).get_attribute("aria-current")
        == "page"
    )

    stranger = window()
    assert stranger.goto(url).status == 410
    assert stranger.get_by_role("heading", level=1).inner_text() == "This link has expired"
    assert stranger.context.cookies() == []

    press(page.get_by_role("button", name="Sign out"))
    assert page.url == f"{site}/sign-in"
    page.goto(site + home)
    assert page.url == f"{site}/sign-in?next=%2F{home[1:]}"


@pytest.mark.parametrize("role", _START_PAGES)
def test_every_control_is_reachable_by_keyboard_with_visible_focus(window, link, site, role):
    page = window()
    page.goto(link(role))
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to content"

    stops = []
    for _ in range(40):
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        stops.append(page.evaluate("document.activeElement.textContent.trim()"))
        assert outline == "solid", stops
        if stops[-1] == "Sign out":
            break
        page.keyboard.press("Tab")
    assert stops[-1] == "Sign out"
    press_enter(page)
    assert page.url == f"{site}/sign-in"


@pytest.mark.parametrize("role", _START_PAGES)
def test_dashboard_works_without_scripts(window, link, site, role):
    home, _, heading = _START_PAGES[role]
    page = window(java_script_enabled=False)
    page.goto(link(role))
    assert page.get_by_role("heading", level=1).inner_text() == heading

    press(page.get_by_role("button", name="Dark"))
    assert page.url == site + home
    assert page.locator("html").get_attribute("data-theme") == "dark"
    press(page.get_by_role("button", name="Sign out"))
    assert page.url == f"{site}/sign-in"


@pytest.mark.parametrize("role", _START_PAGES)
def test_page_does_not_overflow_or_clip_text(window, link, role):
    page = window()
    page.goto(link(role))

    for width, (scheme, background) in itertools.product((320, 1280), _BACKGROUNDS.items()):
        page.set_viewport_size({"width": width, "height": 720})
        page.emulate_media(color_scheme=scheme)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, (scheme, width)
        assert page.evaluate(_CLIPPED) == [], (scheme, width)
        assert page.get_by_role("main").count() == page.get_by_role("heading", level=1).count() == 1
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == background
        if width == 320 and page.locator("nav details").get_attribute("open") is None:
            page.locator("nav summary").click()
            expect(page.get_by_role("button", name="Sign out")).to_be_visible()
            assert page.evaluate("document.documentElement.scrollWidth") <= width, (scheme, "open menu")
        other_scheme = {"light": "Dark", "dark": "Light"}[scheme]
        assert page.get_by_role("button", name=re.compile("^(Dark|Light)$")).all_inner_texts() == [other_scheme]


@pytest.mark.parametrize("role", _START_PAGES)
def test_page_is_small_and_needs_few_requests(window, link, role):
    page = window()
    finished = []
    page.on("requestfinished", lambda request: None if is_poll(request.url) else finished.append(request))
    page.goto(link(role))

    assert len(finished) <= 5 + 1  # the link itself redirects
    assert sum(sum(request.sizes().values()) for request in finished) < 60_000


def test_icons_are_drawn(window, link):
    page = window()
    page.goto(link("owner"))

    page.wait_for_function("document.querySelector('nav svg use').getBoundingClientRect().width > 5")


def test_cross_site_form_does_not_sign_out(browser, link, site):
    context = browser.new_context()
    page = context.new_page()
    page.goto(link("owner"))
    other_site = site.replace("127.0.0.1", "localhost")
    context.route(
        f"{other_site}/trap",
        lambda route: route.fulfill(
            content_type="text/html", body=f'<form method="post" action="{site}/sign-out"><button>Win</button></form>'
        ),
    )
    page.goto(f"{other_site}/trap")
    with page.expect_response(f"{site}/sign-out") as response:
        press(page.get_by_role("button", name="Win"))

    assert response.value.status == 403
    assert page.goto(f"{site}/dashboard").status == 200
    assert page.url == f"{site}/dashboard"
    context.close()
