"""An affiliate's use of the portal in a real browser. Source: the pages' interface, "Portal"."""

import base64
import struct
import zlib
from datetime import datetime
from uuid import uuid4

import pytest
from playwright.sync_api import expect

from tests.support.operators import Operator
from tests.support.pages.keyboard import choose_by_keyboard
from tests.support.pages.navigation import press, press_enter
from tests.support.rows.payroll import Payroll

_WINDOWS = {
    "wide": {},
    "without scripts": {"java_script_enabled": False},
    "narrow": {"viewport": {"width": 320, "height": 640}},
}


@pytest.fixture
def email():
    """Return Rita's email address, unique to the test."""
    return f"rita-{uuid4().hex}@example.com"


@pytest.fixture
def payroll(app, email):
    """Return a brand that holds Rita's commissions for 30 days."""
    new_payroll = Payroll.create(app)
    new_payroll.affiliates["rita"] = new_payroll.brand.affiliate("rita", email=email, email_normalized=email)
    new_payroll.execute("update organization set payout_grace_days = 30 where id = %s", new_payroll.brand.id)
    return new_payroll


@pytest.fixture
def enter(app, site, email):
    """Return a function that signs a page in as Rita."""

    def sign_in(page):
        link = Operator(app).json("sign-in", "affiliate", "--email", email)["url"]
        page.goto(f"{site}/sign-in{link.partition('/sign-in')[2]}")
        return page

    return sign_in


def _build_png(pixels):
    """Return a square PNG of one colour."""

    def build_chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", pixels, pixels, 8, 0, 0, 0, 0)
    lines = zlib.compress((b"\0" + b"\x60" * pixels) * pixels)
    chunks = ((b"IHDR", header), (b"IDAT", lines), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(build_chunk(kind, data) for kind, data in chunks)


def _read_balances(page):
    row = page.get_by_role("table", name="Balances").get_by_role("row").nth(1)
    return row.get_by_role("cell").all_inner_texts()


@pytest.mark.parametrize("options", _WINDOWS.values(), ids=_WINDOWS)
def test_commission_is_on_hold_until_its_due_day(window, enter, payroll, options):
    payroll.sell("rita", 4_900)
    ((hold_until,),) = payroll.brand.rows("select hold_until from conversion")
    page = enter(window(**options))

    assert page.get_by_role("columnheader").all_inner_texts()[1:5] == ["On hold", "Payable", "On its way", "Paid"]
    assert _read_balances(page) == ["9.80 USD", "0.00 USD", "0.00 USD", "0.00 USD"]
    assert page.get_by_role("textbox", name="Your link").input_value().endswith("/rita")
    navigation = page.get_by_role("navigation", name="Portal")
    if "viewport" in options:
        navigation.locator("summary").click()
    press(navigation.get_by_role("link", name="Earnings"))
    row = page.get_by_role("table", name="Earnings").get_by_role("row").nth(1)
    assert "9.80 USD" in row.inner_text()
    assert row.locator(".chip").inner_text() == "On hold"
    payable_at = row.locator("td time").get_attribute("datetime")
    assert datetime.fromisoformat(payable_at) == hold_until.replace(microsecond=0)

    payroll.execute("update conversion set hold_until = now() - interval '1 second'")
    page.reload()
    assert row.locator(".chip").inner_text() == "Payable"
    page.goto("/portal")
    assert _read_balances(page) == ["0.00 USD", "9.80 USD", "0.00 USD", "0.00 USD"]
    assert page.evaluate("document.documentElement.scrollWidth") <= options.get("viewport", {"width": 1280})["width"]


def test_payout_account_is_entered_with_the_keyboard(window, enter, payroll):
    page = enter(window())
    page.goto("/portal/payout-account")
    choose_by_keyboard(page.get_by_label("Method"), "Wallet")
    page.keyboard.press("Tab")
    expect(page.locator(":focus")).to_have_id("walletEmail")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.keyboard.type("rita at home.example")
    page.evaluate("document.querySelector('form[action=\"/portal/payout-account\"]').noValidate = true")
    press_enter(page)

    expect(page.get_by_role("alert")).to_be_visible()
    assert page.title().startswith("Error: Payout account")
    invalid_field = page.get_by_role("textbox", name="Wallet email")
    assert (invalid_field.input_value(), invalid_field.get_attribute("aria-invalid")) == (
        "rita at home.example",
        "true",
    )
    invalid_field.focus()
    page.keyboard.press("Control+A")
    page.keyboard.type("rita@wallet.example.com")
    press_enter(page)
    expect(page.get_by_role("status").filter(has_text="Saved.")).to_be_visible()
    assert page.get_by_text("rita@wallet.example.com").count() == 1


def test_payout_account_is_entered_without_scripts(window, enter, payroll):
    page = enter(window(java_script_enabled=False))
    page.goto("/portal/payout-account")
    page.get_by_label("Method").select_option("Wallet")
    page.get_by_role("textbox", name="Wallet email").fill("rita@wallet.example.com")
    press(page.get_by_role("button", name="Save"))

    assert page.get_by_text("Saved.").count() == 1
    page.get_by_label("Method").select_option("")
    press(page.get_by_role("button", name="Save"))
    assert page.get_by_text("No payout account yet.").count() == 1


def test_link_is_created_scanned_and_deactivated(window, enter, payroll):
    page = enter(window())
    page.goto("/portal/links")
    page.get_by_role("textbox", name="Custom slug").fill("rita-tv")
    press(page.get_by_role("button", name="Create link"))
    assert page.get_by_role("textbox", name="Link rita-tv").input_value().endswith("/rita-tv")

    press(page.get_by_role("link", name="QR code rita-tv"))
    assert page.locator("svg path").count() == 2
    page.go_back()
    press(page.get_by_role("button", name="Delete rita-tv"))
    assert page.get_by_role("textbox", name="Link rita-tv").count() == 0


def test_branded_portal_loads_only_its_own_files(window, enter, payroll):
    owner = payroll.brand.person("Owner")
    assert owner.post(
        "/api/organizations/me/logo", {"dataBase64": base64.b64encode(_build_png(32)).decode()}
    ).status_code in (200, 201)
    payroll.execute("update organization set primary_brand_color = '#ffee00' where id = %s", payroll.brand.id)
    page = enter(window(color_scheme="light"))
    uncached = window(storage_state=page.context.storage_state(), color_scheme="light")
    requested = []
    uncached.on("request", lambda request: requested.append(request.url))
    uncached.goto("/portal", wait_until="load")

    accent = uncached.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--accent')")
    assert "#ffee00" in accent
    assert len(set(requested)) <= 5, requested  # The logo is also the icon, which comes from the cache.
    assert uncached.locator(".brand img").evaluate("image => image.naturalWidth") == 32


def test_times_use_the_browsers_zone_after_sign_in(window, enter, payroll, site):
    payroll.execute("update organization set timezone = 'Europe/Berlin' where id = %s", payroll.brand.id)
    payroll.sell("rita", 4_900)
    page = window(timezone_id="Asia/Tokyo")
    page.goto(f"{site}/sign-in")
    expect(page.get_by_role("button", name="Send me a link")).to_be_visible()

    enter(page).goto(f"{site}/portal/earnings")

    expect(page.get_by_role("table", name="Earnings")).to_contain_text("Asia/Tokyo")


def test_times_use_the_brands_zone_without_scripts(window, enter, payroll, site):
    payroll.execute("update organization set timezone = 'Europe/Berlin' where id = %s", payroll.brand.id)
    payroll.sell("rita", 4_900)

    page = enter(window(java_script_enabled=False, timezone_id="Asia/Tokyo"))
    page.goto(f"{site}/portal/earnings")

    expect(page.get_by_role("table", name="Earnings")).to_contain_text("Europe/Berlin")
