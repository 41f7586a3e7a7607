"""The pages of a switch in each state, with long values, in a real browser: they fit and are accessible.

Source: the pages' interface, "Every page"; the switch-over rules, "Screens and command".
"""

import pytest

from tests.support.pages.page_faults import list_faults
from tests.support.switches.switch_states import PREVIEW, insert_rows, insert_switch

pytestmark = pytest.mark.timeout(900)
_LOOKS = [("light", 1280), ("light", 390), ("dark", 320)]
_STATES = ("Connected", "Reading", "Ready", "Writing", "Paused", "Completed", "Undoing", "Undone", "Cancelled")
_MONEY = PREVIEW["money"][0]
_LONG = PREVIEW | {
    "money": [_MONEY | {"currency": code, "gross_cents": 1_234_567_890} for code in ("CHF", "EUR", "USD", "XXX")],
    "figures": [
        {
            "name": "paid_commission",
            "of": f"a-partner-with-a-long-name-{number}@subdomain.shop.example.com",
            "currency": "USD",
            "theirs": 123_456_789,
            "read": 123_456_700,
            "difference": 89 if number < 12 else 0,
            "explained": [{"reason": "unsupported_currency", "count": 3, "cents": 4}],
        }
        for number in range(14)
    ],
}


@pytest.mark.parametrize("state", _STATES)
def test_switch_in_each_state_fits_and_is_accessible(brand, window, link, state):
    unpaid = {"unpaid": "payable"} if state == "Completed" else {}
    preview = {} if state in ("Connected", "Reading", "Paused", "Cancelled") else {"preview": _LONG}
    switch_id = insert_switch(brand, state, options=unpaid, **preview)
    insert_rows(brand, switch_id)
    page = window()
    page.goto(link("owner"))

    faults = {}
    for path in ("", "/rows", "/undo"):
        page.goto(f"/dashboard/switch/{switch_id}{path}")
        for details in page.locator("main details").all():
            details.evaluate("element => element.open = true")
        if listed := list(list_faults(page, _LOOKS)):
            faults[path] = listed

    assert faults == {}


def test_systems_fit_and_are_accessible(window, link):
    page = window()
    page.goto(link("owner"))

    faults = {}
    for path in ("/dashboard/switch", "/dashboard/switch/new?source=firstpromoter"):
        page.goto(path)
        if listed := list(list_faults(page, _LOOKS)):
            faults[path] = listed

    assert faults == {}
