"""The navigation on a phone, the search box and the main action of a page. Source: WCAG 2.1.1, 2.4.7, 2.4.11."""

import re

import pytest
from playwright.sync_api import expect

from tests.support.pages.navigation import press, press_enter

_PHONE = {"viewport": {"width": 375, "height": 667}}
_AREAS = {
    "owner": ("Dashboard", "Overview", "Payouts"),
    "affiliate": ("Portal", "Home", "Earnings"),
    "operator": ("Console", "Now", "Ledger"),
}
# Whether the focused element is covered at its middle, at its start and at its end: then it is covered as a whole.
_IS_COVERED = """
() => {
  const element = document.activeElement, box = element.getBoundingClientRect();
  if (element === document.body || element.id === 'content' || !box.width) return null;
  const points = [[box.left + 2, box.top + 2], [box.left + box.width / 2, box.top + box.height / 2],
    [box.right - 2, box.bottom - 2]];
  const isSeen = ([x, y]) => {
    const top = document.elementFromPoint(x, y);
    return top !== null && (element.contains(top) || top.contains(element) || top.closest('label')?.contains(element));
  };
  return points.some(isSeen) ? null : element.outerHTML.slice(0, 120);
}
"""
_CONTENT_END = """
() => Math.max(...[...document.querySelectorAll('main > :not(.head)')].map(part => part.getBoundingClientRect().bottom))
"""


@pytest.mark.parametrize("role", _AREAS)
@pytest.mark.parametrize("has_scripts", [True, False], ids=["scripts", "no scripts"])
def test_menu_on_a_phone_shows_the_screen_and_leads_to_others(window, link, role, has_scripts):
    area, home, target = _AREAS[role]
    page = window(**_PHONE, java_script_enabled=has_scripts)
    page.goto(link(role))
    navigation, summary = page.get_by_role("navigation", name=area), page.locator("nav summary").first
    expect(summary).to_have_text(re.compile(f"{home}$"))
    expect(navigation.get_by_role("link")).to_have_count(0)

    summary.focus()
    summary.press("Enter")
    current = navigation.get_by_role("link", name=home)
    expect(current).to_have_attribute("aria-current", "page")
    press(navigation.get_by_role("link", name=target, exact=True), "Enter")

    expect(page.get_by_role("heading", level=1)).to_have_text(target)
    expect(summary).to_have_text(re.compile(f"{target}$"))
    expect(navigation.get_by_role("link")).to_have_count(0)


def test_open_menu_closes_by_escape_by_leaving_and_by_a_click(window, link):
    page = window(**_PHONE)
    page.goto(link("owner"))
    summary, sign_out = page.locator("nav summary").first, page.get_by_role("button", name="Sign out")

    summary.click()
    page.get_by_role("link", name="Programs").focus()
    page.keyboard.press("Escape")
    expect(sign_out).to_be_hidden()
    expect(summary).to_be_focused()

    summary.click()
    sign_out.focus()
    page.keyboard.press("Tab")
    expect(sign_out).to_be_hidden()

    summary.click()
    expect(sign_out).to_be_visible()
    page.get_by_role("banner").click(position={"x": 2, "y": 2})
    expect(sign_out).to_be_hidden()


def test_wide_screen_shows_the_whole_menu(window, link):
    for has_scripts in (True, False):
        page = window(viewport={"width": 1280, "height": 800}, java_script_enabled=has_scripts)
        page.goto(link("owner"))
        navigation = page.get_by_role("navigation", name="Dashboard")

        expect(navigation.locator("summary")).to_be_hidden()
        for name in ("Grow", "Money", "Develop", "Settings"):
            expect(navigation.get_by_role("list", name=name)).to_be_visible()
        expect(page.get_by_role("button", name="Sign out")).to_be_in_viewport()
        expect(page.get_by_role("link", name="Help")).to_have_attribute("href", re.compile("^/docs"))


def test_slash_focuses_the_search_but_is_typed_into_fields(window, link):
    page = window()
    page.goto(link("owner"))
    search = page.get_by_role("searchbox", name="Search everything")
    page.keyboard.press("/")
    expect(search).to_be_focused()
    expect(search).to_have_value("")

    page.route("**/dashboard/search?*", lambda route: route.fulfill(body="<!doctype html>", content_type="text/html"))
    page.keyboard.type("a/b")
    expect(search).to_have_value("a/b")
    press_enter(page)
    assert page.url.endswith("/dashboard/search?q=a%2Fb")


@pytest.mark.parametrize(
    ("path", "role", "name"),
    [
        ("/dashboard/programs", "link", "New program"),
        ("/dashboard/programs/new", "button", "Create program"),
        ("/dashboard/conversions/new", "button", "Record"),
        ("/dashboard/connections/new/gateway/stripe", "button", "Connect"),
    ],
)
def test_main_action_on_a_phone_is_within_reach(window, link, path, role, name):
    page = window(viewport={"width": 375, "height": 480})
    page.goto(link("owner"))
    page.goto(path)
    action = page.get_by_role("main").get_by_role(role, name=re.compile(f"^{name}")).first

    expect(action).to_be_in_viewport(ratio=1)
    box = action.bounding_box()
    assert box["height"] >= 44
    assert box["y"] > 480 / 2
    page.keyboard.press("End")
    content_end = page.evaluate(_CONTENT_END)
    if role == "link":  # it lies over the page, whose end is above it
        assert content_end <= action.bounding_box()["y"]


@pytest.mark.parametrize(
    "path",
    ["/dashboard/programs", "/dashboard/programs/new", "/dashboard/conversions/new", "/dashboard/settings/payouts"],
)
def test_focus_on_a_phone_is_never_covered(window, link, path):
    page = window(viewport={"width": 375, "height": 480})
    page.goto(link("owner"))
    page.goto(path)
    covered, stops = [], 0
    for key in ("Tab", "Shift+Tab"):
        for _ in range(60):
            page.keyboard.press(key)
            stops += 1
            if (element := page.evaluate(_IS_COVERED)) is not None:
                covered.append(f"{key}: {element}")
            if page.evaluate("document.activeElement === document.body"):
                break

    assert covered == []
    assert stops > 10
