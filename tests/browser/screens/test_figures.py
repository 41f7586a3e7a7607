"""Figures of a range of days in a browser: values on hover and focus, one tab stop a chart, narrow screens."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tests.support.operators import Operator
from tests.support.rows.brands import Brand
from tests.support.rows.program_rows import insert_click, insert_conversion, time_ago

pytestmark = pytest.mark.timeout(300)
# All four looks of these pages are among every screen's.
_LOOKS = [("light", 1280), ("dark", 320)]
_LEVELS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
_RANGES = ("", "?range=7d", "?range=90d", "?range=year", "?range=own&from=2026-02-01&to=2026-02-01", "?range=nonsense")


@pytest.fixture
def shop(app):
    """A brand with sales, refunds and clicks of two periods, some of them huge, negative or without a rate."""
    brand = Brand.create(app, plan="Pro")
    brand.program()
    ada = brand.affiliate("ada")
    for days in (0, 1, 2, 5, 29, 35, 40, 80, 200, 400):
        insert_conversion(brand, ada, occurred_at=time_ago(days=days), amount_cents=123_456_789_012)
        insert_conversion(brand, ada, occurred_at=time_ago(days=days), refunded_cents=10_000, reversed_cents=1_000)
        insert_click(brand, ada, occurred_at=time_ago(days=min(days, 5)))
    insert_conversion(brand, ada, occurred_at=time_ago(days=2), currency="XPF")
    return brand


@pytest.fixture
def open_page(app, site, window, shop):
    """Return a function that opens a page of the shop as its Viewer."""

    def open_path(path, **options):
        page = window(expected_statuses=(400,), **options)
        link = Operator(app).json("sign-in", "owner", "--org", shop.id, "--role", "Viewer")["url"]
        page.goto(f"{site}/sign-in{link.partition('/sign-in')[2]}")
        page.goto(path)
        return page

    return open_path


@pytest.mark.parametrize("which", ["overview", "program", "affiliate"])
def test_figures_of_every_range_are_accessible_in_both_themes_and_narrow(open_page, shop, which):
    ((affiliate_id,),) = shop.rows("select id from affiliate")
    path = {
        "overview": "/dashboard",
        "program": f"/dashboard/programs/{shop.programs[0]}",
        "affiliate": f"/dashboard/affiliates/{affiliate_id}",
    }[which]
    page, faults = open_page(path), []
    for query in _RANGES:
        page.goto(path + query)
        page.evaluate(Axe().axe_script)
        for scheme, width in _LOOKS:
            page.emulate_media(color_scheme=scheme)
            page.set_viewport_size({"width": width, "height": 800})
            rules = {"runOnly": _LEVELS, "resultTypes": ["violations"]}
            for violation in page.evaluate("options => axe.run(document, options)", rules)["violations"]:
                faults.append((query, scheme, width, violation["id"], violation["nodes"][0]["html"][:120]))
            if page.evaluate("document.documentElement.scrollWidth") > width:
                faults.append((query, scheme, width, "scrolls sideways"))
    assert faults == []


def test_value_of_a_day_shows_on_hover_and_focus_without_scripts(open_page):
    page = open_page("/dashboard", java_script_enabled=False)
    chart = page.get_by_role("radiogroup", name="Sales, values")
    points = chart.get_by_role("radio")
    expect(points).to_have_count(30)
    tips = chart.locator("label > span")
    expect(tips.nth(27)).to_have_css("opacity", "0")

    chart.locator("label").nth(27).hover()
    expect(tips.nth(27)).to_have_css("opacity", "1")
    expect(tips.nth(27)).to_contain_text("3")
    page.mouse.move(0, 0)
    expect(tips.nth(27)).to_have_css("opacity", "0")

    points.nth(0).focus()
    expect(tips.nth(0)).to_have_css("opacity", "1")
    page.keyboard.press("ArrowRight")
    expect(tips.nth(1)).to_have_css("opacity", "1")
    expect(tips.nth(0)).to_have_css("opacity", "0")
    page.keyboard.press("Tab")
    expect(chart.locator(":focus")).to_have_count(0)


def test_range_is_chosen_by_keyboard_without_scripts(open_page):
    page = open_page("/dashboard", java_script_enabled=False)
    page.get_by_role("button", name="7 days").press("Enter")
    expect(page).to_have_url("/dashboard?range=7d")

    page.get_by_text("Custom").click()
    page.get_by_label("From", exact=True).fill("2026-02-01")
    page.get_by_label("To", exact=True).fill("2026-02-28")
    page.get_by_role("button", name="Apply").click()
    expect(page).to_have_url("/dashboard?range=own&from=2026-02-01&to=2026-02-28")
    expect(page.get_by_text("Feb 2026, compared with 4–31 Jan 2026.")).to_be_visible()


def test_custom_range_fits_a_narrow_screen(open_page):
    page = open_page("/dashboard")
    page.set_viewport_size({"width": 320, "height": 800})
    page.get_by_text("Custom").click()

    box = page.get_by_role("button", name="Apply").bounding_box()
    assert box is not None
    assert box["x"] >= 0 and box["x"] + box["width"] <= 320
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
