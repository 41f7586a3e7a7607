"""An affiliate on a phone copies a link and sees a sale arrive. Source: the pages' journeys."""

import re

import pytest
from playwright.sync_api import expect

from tests.support.operators import Operator
from tests.support.outside.shop_site import SHOP
from tests.support.pages.navigation import press

_PHONE = {"viewport": {"width": 375, "height": 812}, "has_touch": True, "is_mobile": True}


@pytest.fixture
def rita(app, payroll, email):
    """Return a function that signs a page in as Rita, an affiliate whose links lead to the shop."""
    payroll.affiliates["rita"] = payroll.brand.affiliate("rita", email=email, email_normalized=email)
    payroll.execute("update program set referral_destination_url = %s", f"{SHOP}/")

    def sign_in(page):
        page.goto(Operator(app).json("sign-in", "affiliate", "--email", email)["url"])
        return page

    return sign_in


def _figure(page, label):
    return page.locator("dl.tiles > div").filter(has_text=re.compile(f"^{label}")).locator("dd")


@pytest.mark.parametrize("has_scripts", [True, False], ids=["scripts", "no scripts"])
def test_affiliate_on_a_phone_copies_a_link_and_sees_a_sale(window, rita, payroll, has_scripts):
    options = {"permissions": ["clipboard-read", "clipboard-write"]} if has_scripts else {"java_script_enabled": False}
    page = rita(window(**_PHONE, **options))
    field = page.get_by_role("textbox", name="Your link")
    link = field.input_value()
    if has_scripts:
        button = page.get_by_role("button", name="Copy Your link")
        button.click()
        expect(button).to_contain_text("Copied")
        assert page.evaluate("navigator.clipboard.readText()") == link
    box = field.bounding_box()
    assert box["y"] + box["height"] < _PHONE["viewport"]["height"]
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
    expect(_figure(page, "Sales")).to_contain_text("0")
    expect(page.get_by_text("Share your link to get your first clicks.")).to_be_visible()

    landing = page.request.get(link, max_redirects=0).headers["location"]
    slug = re.search(r"[?&]via=([^&#]+)", landing)[1]
    payroll.sell(slug, 4_900)
    page.reload()

    expect(_figure(page, "Sales")).to_contain_text("1")
    expect(_figure(page, "Commission")).to_contain_text("9.80 USD")
    expect(page.get_by_role("table", name="Balances").get_by_role("row").nth(1)).to_contain_text("9.80 USD")
    press(page.get_by_role("link", name=re.compile("^Earnings")).last)
    expect(page.get_by_role("table", name="Earnings")).to_contain_text("9.80 USD")


def test_qr_code_of_a_link_opens_and_downloads(window, rita):
    page = rita(window(**_PHONE))
    press(page.get_by_role("link", name="QR code").first)
    assert page.locator("svg path").count() == 2
    page.go_back()
    page.goto("/portal/links")
    with page.expect_download() as download:
        page.get_by_role("link", name="Download QR code of rita").click()
    assert download.value.suggested_filename == "rita-qr.svg"
