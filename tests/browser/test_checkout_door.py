"""The page of a checkout door with scripts off and by keyboard. Source: core spec, "Program" (checkout door)."""

import pytest

from tests.support.api.doors import door_of, remembered, with_door
from tests.support.databases import alter
from tests.support.rows.brands import Brand

_SHOP = "https://pay.shop.test"


@pytest.fixture
def buyer(app, browser, monkeypatch):
    """Return a brand and a buyer without scripts, whose checkout is at another origin and moves on to a third one."""
    monkeypatch.setattr("adapters.fraud.human_check.FILLING_S", 0)
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.set_viewport_size({"width": 360, "height": 740})
    moved = {"Location": "https://checkout.shop.test/session"}
    page.route(f"{_SHOP}/**", lambda route: route.fulfill(status=302, headers=moved))
    page.route(
        "https://checkout.shop.test/**", lambda route: route.fulfill(body="<h1>Pay here</h1>", content_type="text/html")
    )
    yield Brand.create(app), page
    context.close()


def test_a_buyer_gives_an_email_by_keyboard_and_comes_to_the_checkout_without_scripts(site, buyer):
    brand, page = buyer
    slug = with_door(brand, mode="email", site=f"{_SHOP}/mug")
    alter(brand, "update organization set primary_brand_color = '#ffdd00'")

    page.goto(f"{site}{door_of(brand, slug)}")
    page.keyboard.press("Tab")
    page.keyboard.type("ada")
    page.keyboard.press("Tab")
    focused = page.locator("button:focus-visible")
    assert focused.inner_text() == "Continue to checkout"
    page.keyboard.press("Enter")
    said = page.get_by_role("alert").inner_text()
    widest = page.locator("main").bounding_box()
    page.get_by_label("Email address").fill("ada@inbox.example.org")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Pay here").wait_for()

    assert "Enter an email address" in said
    assert widest is not None
    assert widest["x"] + widest["width"] <= 360
    assert page.url == "https://checkout.shop.test/session"
    assert remembered(brand) == [(slug, False, "ada@inbox.example.org")]
