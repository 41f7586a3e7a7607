"""Applications in a real browser: decided with the keyboard only, and without scripts."""

import pytest
from playwright.sync_api import expect

from tests.support.pages.navigation import press, press_enter

_PATH = "/dashboard/affiliates/applications"


@pytest.fixture
def waiting_applications(brand, link):
    """Return a sign-in link of the Owner; Ada, Ben and the one of `link` wait, in this order."""
    url = link("owner")
    for slug, name in (("ben", "Ben Osei"), ("ada", "Ada Ek")):
        brand.affiliate(slug, full_name=name, status="Pending", approved_at=None)
    return url


def _tab_to(page, words, max_stops=60):
    """Press Tab until the element with this text has the focus; check that the focus is visible at every stop."""
    for _ in range(max_stops):
        page.keyboard.press("Tab")
        stop = page.evaluate("document.activeElement.textContent.replace(/\\s+/g, ' ').trim()")
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid", stop
        if stop == words:
            return
    raise AssertionError(f"{words} is not reached")


def test_keyboard_approval_moves_focus_to_the_next_application(window, waiting_applications, site, brand):
    page = window()
    page.goto(waiting_applications)
    page.goto(site + _PATH)
    _tab_to(page, "Approve Ada Ek")
    press_enter(page)
    page.get_by_text("Ada Ek was approved.").wait_for()

    assert page.get_by_role("table", name="Applications").get_by_role("row", name="Ada Ek").count() == 0
    expect(page.locator(":focus")).to_have_text("Ben Osei")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    assert brand.rows("select status from affiliate where full_name = 'Ada Ek'") == [("Approved",)]

    _tab_to(page, "Reject Ben Osei", max_stops=4)
    press_enter(page)
    page.get_by_text("Ben Osei was rejected.").wait_for()
    expect(page.locator(":focus")).to_have_text("New")


def test_last_decision_leaves_focus_on_the_result(window, waiting_applications, site):
    page = window()
    page.goto(waiting_applications)
    page.goto(site + _PATH)
    for name in ("Ada Ek", "Ben Osei", "New"):
        press(page.get_by_role("button", name=f"Approve {name}"), "Enter")
        page.get_by_text(f"{name} was approved.").wait_for()

    expect(page.locator(":focus")).to_contain_text("New was approved.")
    assert page.get_by_text("No pending applications").count() == 1


def test_applications_are_decided_without_scripts(window, waiting_applications, site, brand):
    page = window(java_script_enabled=False)
    page.goto(waiting_applications)
    page.goto(site + _PATH)
    press(page.get_by_role("button", name="Approve Ada Ek"))
    assert page.get_by_role("row", name="Ada Ek").count() == 0

    page.get_by_text("Add a reason Ben Osei").click()
    page.get_by_label("Reason").locator("visible=true").fill("Not yet")
    press(page.get_by_role("button", name="Reject Ben Osei"))
    assert page.get_by_role("row", name="Ben Osei").count() == 0
    assert brand.rows("select rejection_reason from affiliate where status = 'Rejected'") == [("Not yet",)]

    page.get_by_label("Select New").check()
    press(page.get_by_role("button", name="Approve selected"))
    assert page.get_by_text("1 affiliate was approved.").count() == 1
