"""From an application to a payable commission, with scripts and without. Source: the pages' journeys, 2 and 10."""

import re
from datetime import datetime

import pytest
from playwright.sync_api import expect

from tests.support.api.applications import apply
from tests.support.job_queues import drain
from tests.support.outside.shop_site import SHOP
from tests.support.pages.mailed_links import read_newest_link
from tests.support.pages.navigation import press, press_enter


@pytest.fixture
def brand(payroll):
    """Return a brand whose commissions are on hold for 30 days and whose links lead to its shop."""
    payroll.execute("update organization set payout_grace_days = 30 where id = %s", payroll.brand.id)
    payroll.execute("update program set referral_destination_url = %s", f"{SHOP}/")
    return payroll.brand


def _buy(browser, link, brand):
    """Follow the link to the shop as a customer and buy there; the shop reports the sale with the link's slug."""
    context = browser.new_context()
    page = context.new_page()
    page.route(f"{SHOP}/**", lambda route: route.fulfill(body="<!doctype html>The shop", content_type="text/html"))
    page.goto(
        context.request.get(link, max_redirects=0).headers["location"]
    )  # Playwright's routes do not apply to redirects
    slug = re.search(r"[?&]via=([^&#]+)", page.url)[1]
    context.close()
    assert brand.sale(affiliateSlug=slug, amountCents=4_900).status_code == 200
    drain()


@pytest.fixture(params=[True, False], ids=["scripts", "no scripts"])
def open_browser_window(request, window):
    """Return a function that opens a window, with scripts or without."""
    return lambda: window(java_script_enabled=request.param)


@pytest.fixture
def approved_email(open_browser_window, enter, tab_to, brand, email):
    """Return the email of an applicant whom a Manager approved with the keyboard only."""
    assert apply(brand, email=email, fullName="Ada Ek").status_code < 300
    manager = enter(open_browser_window(), "Manager", "manager@example.com")
    manager.goto("/dashboard/affiliates/applications")
    tab_to(manager, "button", "Approve Ada Ek")
    press_enter(manager)
    expect(manager.get_by_role("row", name="Ada Ek")).to_have_count(0)
    return email


def test_new_affiliate_sees_when_the_commission_is_payable(browser, open_browser_window, approved_email, payroll):
    ada = open_browser_window()
    ada.goto("/portal/earnings")
    ada.get_by_role("textbox", name="Email").fill(approved_email)
    press(ada.get_by_role("button", name="Send me a link"))
    expect(ada.get_by_role("heading", level=1)).to_have_text("Check your email")
    sign_in_link = read_newest_link(approved_email)
    scanner = open_browser_window()
    for _ in range(2):
        scanner.goto(sign_in_link)
        expect(scanner.get_by_role("button", name="Sign in")).to_be_visible()
    assert scanner.context.cookies() == []
    ada.goto(sign_in_link)
    expect(ada.get_by_role("heading", level=1)).to_have_text("Earnings")  # the page that Ada requested

    press(ada.get_by_role("navigation", name="Portal").get_by_role("link", name="Home"))
    _buy(browser, ada.get_by_role("textbox", name="Your link").input_value(), payroll.brand)
    ((hold_until,),) = payroll.brand.rows("select hold_until from conversion")
    ada.reload()
    balances = ada.get_by_role("table", name="Balances").get_by_role("row", name="USD").get_by_role("cell")
    expect(balances).to_have_text(["9.80 USD", "0.00 USD", "0.00 USD", "0.00 USD"])
    press(ada.get_by_role("link", name="Earnings").first)
    row = ada.get_by_role("table", name="Earnings").get_by_role("row").nth(1)
    expect(row).to_contain_text("On hold")
    days = row.locator("time").evaluate_all("all => all.map(one => one.dateTime)")
    assert hold_until.replace(microsecond=0) in [datetime.fromisoformat(day) for day in days if "T" in day]

    payroll.execute("update conversion set hold_until = now() - interval '1 second'")
    ada.reload()
    expect(row).to_contain_text("Payable")
    ada.goto("/portal")
    expect(balances).to_have_text(["0.00 USD", "9.80 USD", "0.00 USD", "0.00 USD"])
