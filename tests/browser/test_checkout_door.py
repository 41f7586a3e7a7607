"""The page of a checkout door with scripts off and by keyboard. Source: core spec, "Program" (checkout door)."""

import pytest

from tests.support.api.doors import create_door_program, door_path, list_door_visits
from tests.support.databases import run_as_brand
from tests.support.outside.brand_site import BrandSite
from tests.support.pages.navigation import press_enter
from tests.support.rows.brands import Brand


@pytest.fixture
def checkout():
    """Yield the address of a shop on another origin, and of the checkout on a third origin to which it redirects."""
    shop, cashier = BrandSite(), BrandSite()
    session = cashier.show("<h1>Pay here</h1>", path="/session")
    yield shop.move("/mug", session), session
    for brand_site in (shop, cashier):
        brand_site.close()


@pytest.fixture
def buyer(app, browser, monkeypatch):
    """Return a brand and a buyer without scripts."""
    monkeypatch.setattr("adapters.fraud.human_check.MIN_FILLING_S", 0)
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.set_viewport_size({"width": 360, "height": 740})
    yield Brand.create(app), page
    context.close()


def test_checkout_door_works_by_keyboard_without_scripts(site, buyer, checkout):
    brand, page = buyer
    shop, session = checkout
    slug = create_door_program(brand, mode="email", site=shop)
    run_as_brand(brand, "update organization set primary_brand_color = '#ffdd00'")

    page.goto(f"{site}{door_path(brand, slug)}")
    page.keyboard.press("Tab")
    page.keyboard.type("ada")
    page.keyboard.press("Tab")
    focused = page.locator("button:focus-visible")
    assert focused.inner_text() == "Continue to checkout"
    press_enter(page)
    error = page.get_by_role("alert").inner_text()
    main_box = page.locator("main").bounding_box()
    page.get_by_label("Email address").fill("ada@inbox.example.org")
    press_enter(page)
    page.get_by_role("heading", name="Pay here").wait_for()

    assert "Enter an email address" in error
    assert main_box is not None
    assert main_box["x"] + main_box["width"] <= 360
    assert page.url == session
    assert list_door_visits(brand) == [(slug, False, "ada@inbox.example.org")]
