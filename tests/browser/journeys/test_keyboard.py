"""A complete session with the keyboard only. Source: the pages' journeys, 9; WCAG 2.1.1 and 2.4.7."""

import re

from playwright.sync_api import expect

from tests.support.pages.keyboard import choose_by_keyboard
from tests.support.pages.navigation import press_enter


def _press_with_keyboard(page, tab_to, role, name):
    tab_to(page, role, name)
    press_enter(page)


def test_whole_session_works_with_the_keyboard(window, enter, tab_to, payroll, site):
    payroll.affiliate("ann")
    payroll.sell("ann", 10_000)
    payroll.brand.affiliate("new", status="Pending", approved_at=None, full_name="Ada Ek")
    page = enter(window())
    _press_with_keyboard(page, tab_to, "link", "Affiliates")
    _press_with_keyboard(page, tab_to, "link", "Applications")
    _press_with_keyboard(page, tab_to, "button", "Approve Ada Ek")
    expect(page.get_by_text("Ada Ek was approved.")).to_be_visible()
    expect(page.locator(":focus")).to_have_count(1)

    _press_with_keyboard(page, tab_to, "link", "Conversions")
    tab_to(page, "combobox", "Status")
    choose_by_keyboard(page.get_by_role("combobox", name="Status"), "Pending")
    _press_with_keyboard(page, tab_to, "button", "Filter")
    expect(page).to_have_url(re.compile("[?&]status=Pending"))
    expect(page.get_by_role("table", name="Conversions").get_by_role("rowheader")).to_have_count(1)

    _press_with_keyboard(page, tab_to, "link", "Payouts")
    _press_with_keyboard(page, tab_to, "link", "New run")
    _press_with_keyboard(page, tab_to, "link", "Continue")
    tab_to(page, "textbox", "Type the total in USD")
    page.keyboard.type("20.00")
    _press_with_keyboard(page, tab_to, "button", "Pay 1 affiliate")
    expect(page.get_by_text("0 of 1 paid")).to_be_visible()
    payroll.pay()
    tab_to(page, "link", "Ann")
    expect(page.get_by_text("1 of 1 paid")).to_be_visible()  # swapped in by the live update
    expect(page.get_by_role("link", name="Ann")).to_be_focused()

    _press_with_keyboard(page, tab_to, "button", "Sign out")
    expect(page).to_have_url(f"{site}/sign-in")
