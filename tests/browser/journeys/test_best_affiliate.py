"""A marketer finds last month's best affiliate and exports. Source: the pages' journeys."""

import csv
from datetime import timedelta

import pytest
from playwright.sync_api import expect

from tests.support import owed_totals
from tests.support.pages.navigation import press
from tests.support.rows.program_rows import insert_conversion

# Sales in cents by affiliate: (last month, this month). Zoe is the best of all time, Ada that of last month.
_SALES = {"ada": ([90_000, 60_000], [1_000]), "ben": ([70_000], []), "zoe": ([20_000], [900_000])}
_NAMES = {"ada": "Ada Lovelace", "ben": "Ben Osei", "zoe": "Zoe Quinn"}


@pytest.fixture
def months(payroll):
    """Return the first days of last month and of this month; each affiliate has sales in both."""
    brand = payroll.brand
    ((last, this),) = brand.rows(
        "select date_trunc('month', now() at time zone 'UTC' - interval '1 month') at time zone 'UTC',"
        " date_trunc('month', now() at time zone 'UTC') at time zone 'UTC'"
    )
    for slug, (of_last, of_this) in _SALES.items():
        affiliate_id = brand.affiliate(slug, full_name=_NAMES[slug])
        for first, amounts in ((last + timedelta(days=9), of_last), (this, of_this)):
            for cents in amounts:
                insert_conversion(
                    brand,
                    affiliate_id,
                    amount_cents=cents,
                    commission_cents=cents // 10,
                    occurred_at=first,
                    created_at=first,
                    external_event_id=f"{slug}-{cents}",
                )
    owed_totals.fold_changes(brand)
    owed_totals.compute_owed_days(brand)
    return last.date(), this.date()


def _download(page, target):
    with page.expect_download() as download:
        target.click()
    with open(download.value.path(), newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("has_scripts", [True, False], ids=["scripts", "no scripts"])
def test_marketer_finds_last_months_best_affiliate_and_exports_their_sales(window, enter, months, has_scripts):
    page = enter(window(**({} if has_scripts else {"java_script_enabled": False})), role="Manager")
    press(page.get_by_role("button", name="Last month"))
    best = page.get_by_role("table", name="Top affiliates").get_by_role("row").nth(1)
    expect(best).to_contain_text("1,500.00 USD")
    press(best.get_by_role("link", name="Ada Lovelace"))
    expect(page.get_by_role("heading", level=1)).to_have_text("Ada Lovelace")

    press(page.get_by_role("link", name="View all conversions"))
    page.get_by_label("Recorded since").fill(months[0].isoformat())
    page.get_by_label("Recorded before").fill(months[1].isoformat())
    press(page.get_by_role("button", name="Filter"))
    expect(page.get_by_role("table", name="Conversions").get_by_role("row")).to_have_count(3)
    rows = _download(page, page.get_by_role("link", name="Export CSV"))

    assert sorted((row["external_event_id"], row["amount_cents"]) for row in rows) == [
        ("ada-60000", "60000"),
        ("ada-90000", "90000"),
    ]


def test_marketer_finds_an_affiliate_by_last_name_and_exports_the_best(window, enter, months):
    page = enter(window(), role="Viewer")
    page.keyboard.press("/")
    page.keyboard.type("lovel")
    press(page.get_by_role("searchbox").first, "Enter")
    press(page.get_by_role("table", name="Affiliates").get_by_role("link", name="Ada Lovelace"))
    press(page.get_by_role("link", name="Affiliates").first)
    press(page.get_by_role("link", name="Top by revenue"))
    rows = _download(page, page.get_by_role("link", name="Export CSV"))

    assert [(row["full_name"], row["revenue_cents"]) for row in rows] == [
        ("Zoe Quinn", "920000"),
        ("Ada Lovelace", "151000"),
        ("Ben Osei", "70000"),
    ]
