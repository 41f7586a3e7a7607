"""An import is previewed, corrected, run and undone in a real browser, with scripts and without.

Source: the pages' interface, "New import" and "Import".
"""

import re

import pytest
from playwright.sync_api import expect

from tests.support.api.import_requests import build_past_sale, import_sales
from tests.support.pages.navigation import press

_HEADER = "affiliateSlug,amount,commission,currency,occurredAt"
_WRONG = f"{_HEADER}\npaused,49.00,9.80,EUR,2024-01-31\npaused,49.00,9.80,EURO,2024-02-01\n,1.00,0.10,EUR,2024-02-01\n"
_CORRECTED = (
    f"{_HEADER}\npaused,49.00,9.80,EUR,2024-01-31\npaused,49.00,9.80,EUR,2024-02-01\npaused,1.00,0.10,EUR,2024-03-01\n"
)


def _preview(page, text):
    page.get_by_label("Program").select_option(index=0)
    page.get_by_label("File").set_input_files(
        {"name": "conversions-2025.csv", "mimeType": "text/csv", "buffer": text.encode()}
    )
    press(page.get_by_role("button", name="Preview"))


def _find_row(page, number):
    return page.get_by_role("listitem").filter(has_text=f"row {number}")


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
def test_import_is_previewed_corrected_and_undone(window, link, brand, scripts):
    page = window(java_script_enabled=scripts)
    page.goto(link("owner"))
    press(page.get_by_role("link", name="Imports"))
    press(page.get_by_role("link", name="New import"))

    _preview(page, _WRONG)
    for words in ("1 new", "0 known", "2 wrong"):
        expect(page.get_by_text(words, exact=True)).to_be_visible()
    expect(_find_row(page, 3)).to_contain_text("currency")
    expect(_find_row(page, 4)).to_contain_text("affiliate")
    expect(page.get_by_role("button", name=re.compile("^Import [0-9]"))).to_have_count(0)
    expect(page.get_by_role("button", name="Import without these 2 rows")).to_be_visible()

    _preview(page, _CORRECTED)
    expect(page.get_by_text("0 wrong", exact=True)).to_be_visible()
    expect(page.get_by_label("History only")).to_be_checked()
    page.get_by_label("Make it payable").check()
    press(page.get_by_role("button", name="Import 3 rows"))

    expect(page.get_by_text("Done", exact=True)).to_be_visible()
    assert brand.rows("select status, count(*) from conversion where source = 'import' group by 1") == [("Approved", 3)]
    press(page.get_by_role("link", name="Undo"))
    expect(page.get_by_text("19.70 EUR")).to_be_visible()
    press(page.get_by_role("button", name="Undo import"))
    expect(page.get_by_text("Undone", exact=True)).to_be_visible()
    assert brand.rows("select count(*) from conversion where source = 'import'") == [(0,)]


def test_undo_of_an_import_with_a_refund_is_refused_with_the_reason(window, link, brand):
    page = window()
    page.goto(link("owner"))
    rows = [build_past_sale(affiliateSlug="paused", externalId=str(number)) for number in range(3)]
    job_id = import_sales(brand, *rows, confirmUnpaidPayout=True).json["jobId"]
    page.goto(f"/dashboard/imports/{job_id}/undo")
    brand.rows("update conversion set refunded_cents = 1 where external_event_id in ('1', '2') returning id")

    press(page.get_by_role("button", name="Undo import"))

    expect(page.get_by_role("alert")).to_be_focused()
    expect(page.get_by_role("alert")).to_contain_text("nothing was removed")
    expect(page.locator("dl")).to_contain_text("Refunded2")
    expect(page.get_by_role("button", name="Undo import")).to_have_count(0)
