"""From an empty brand to a working installation in a real browser. Source: the pages' journeys, the first."""

import re

import pytest
from playwright.sync_api import expect

from api.clicks import tag_sightings
from tests.support.job_queues import drain
from tests.support.operators import Operator
from tests.support.outside.shop_site import SHOP
from tests.support.pages.navigation import press
from tests.support.settings_overrides import override_settings


@pytest.fixture
def dashboard(app, brand, site, window, monkeypatch):
    """Return an Owner's window on the overview; the settings contain the service's real address."""
    override_settings(monkeypatch, web={"public_base_url": site})
    tag_sightings.clear_cache()
    page = window()
    page.goto(Operator(app).json("sign-in", "owner", "--org", brand.id)["url"])
    return page


@pytest.fixture
def shop(browser):
    """Yield a function that shows an HTML text on a page of the brand's site, on another origin."""
    context = browser.new_context()
    page = context.new_page()

    def show(html, address="/"):
        page.unroute_all()
        page.route(f"{SHOP}/**", lambda route: route.fulfill(body=html, content_type="text/html"))
        page.goto(f"{SHOP}{address}")
        page.wait_for_function("window.Finderfee && Finderfee.isLoaded")

    yield show
    context.close()


def _create_program(page):
    press(page.get_by_role("link", name="Create your first program"))
    page.get_by_role("textbox", name="Name").fill("Knives")
    page.get_by_role("textbox", name="Slug").fill("knives")
    page.get_by_role("combobox", name="Commission type").select_option("Percentage")
    page.get_by_role("textbox", name="Commission").fill("20")
    press(page.get_by_role("button", name="Create program"))
    expect(page.get_by_role("heading", level=1)).to_have_text("Knives")
    expect(page.get_by_role("main")).to_contain_text(re.compile("20.% of each payment."))
    press(page.get_by_role("link", name="Install"))


def test_install_page_confirms_a_working_tag(brand, dashboard, shop):
    page = dashboard
    _create_program(page)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    copy = page.get_by_role("button", name="Copy")
    copy.click()
    expect(copy.get_by_role("status")).to_have_text("Copied")
    tag = page.evaluate("navigator.clipboard.readText()")
    assert tag == page.get_by_role("textbox", name="Your tag").input_value()
    checks = page.get_by_role("list", name="Checks").get_by_role("listitem")
    expect(checks).to_have_count(4)
    expect(checks.get_by_text("Waiting", exact=True)).to_have_count(4)
    page.evaluate("window.isTheSame = true")
    page.get_by_role("textbox", name="Page to check").fill("https://www.sh")

    shop(f"<!doctype html><link rel=icon href=data:,>{tag}")
    expect(checks.nth(2)).to_contain_text("Seen")
    expect(checks.nth(3)).to_contain_text("Waiting")

    brand.programs.append(brand.get("/api/v1/programs").json["items"][0]["id"])
    brand.affiliate("ben")
    brand.sale()
    drain()
    expect(checks.nth(3)).to_contain_text("Seen")
    assert page.evaluate("window.isTheSame")
    expect(page.get_by_role("textbox", name="Page to check")).to_have_value("https://www.sh")
    expect(page.get_by_role("textbox", name="Page to check")).to_be_focused()


def test_install_page_works_without_scripts(app, brand, dashboard, window, site):
    program = brand.program(name="Knives")
    page = window(java_script_enabled=False, storage_state=dashboard.context.storage_state())
    page.goto(f"{site}/dashboard/programs/{program}/install")
    page.get_by_role("checkbox", name="Capture leads").uncheck()
    press(page.get_by_role("button", name="Update tag"))
    assert "data-email-capture" not in page.get_by_role("textbox", name="Your tag").input_value()
    assert not page.get_by_role("checkbox", name="Capture leads").is_checked()
    expect(page.get_by_role("button", name="Copy")).to_have_count(0)

    page.get_by_role("textbox", name="Page to check").fill(f"{site}/sign-in")
    press(page.get_by_role("button", name="Check"))

    checks = page.get_by_role("list", name="Checks").get_by_role("listitem")
    expect(checks.nth(0)).to_contain_text(f"No tag in the HTML of {site}/sign-in")
    expect(page.get_by_role("textbox", name="Page to check")).to_have_value(f"{site}/sign-in")
