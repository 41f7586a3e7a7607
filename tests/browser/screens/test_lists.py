"""Lists in a real browser: two lines a row on a phone, and selection with and without scripts."""

import pytest
from playwright.sync_api import expect

from tests.support import owed_totals
from tests.support.operators import Operator
from tests.support.pages.navigation import press
from tests.support.rows.program_rows import insert_conversion

_PHONE = {"width": 375, "height": 812}
_MAX_HEIGHT = 4_500
_PAYOUTS = """
with run as (
  insert into payout_run (id, organization_id, confirmed_cents, confirmed_totals, filters, created_at)
    select uuidv7(), organization_id, 100, '{}', '{}', now()
    from affiliate, generate_series(1, 50) where id = %s
    returning id, organization_id
)
insert into payout (id, organization_id, run_id, program_id, affiliate_id, amount_cents, method, destination, status,
    paid_at, period_start, period_end, created_at)
  select uuidv7(), organization_id, run.id, program_id, affiliate.id, 1234567, 'Manual', 'x', 'Paid', now(), now(),
    now(), now()
  from affiliate join run using (organization_id) where affiliate.id = %s
  returning id"""
_DELIVERIES = """
with sent as (
  insert into event (id, organization_id, type, body, created_at)
    select uuidv7(), organization_id, 'conversion.adjusted', '{}', now()
    from webhook_endpoint, generate_series(1, 50) where id = %s
    returning id, organization_id, type
)
insert into delivery (id, organization_id, event_id, endpoint_id, event_type, status, response_status, attempt_count,
    created_at)
  select uuidv7(), organization_id, id, %s, type, 'Delivered', 200, 1, now() from sent
  returning id"""
_ROW_HEIGHTS = "() => [...document.querySelectorAll('tbody tr')].map(row => row.getBoundingClientRect().height)"


@pytest.fixture
def shop(brand, link):
    """Return a sign-in link of the Owner of a brand with fifty affiliates with long names and fifty conversions."""
    url = link("owner")
    ids = [
        brand.affiliate(f"long-{number}", full_name=f"Bartholomew Featherstonehaugh-Cholmondeley {number}")
        for number in range(50)
    ]
    for affiliate_id in ids:
        insert_conversion(brand, affiliate_id, amount_cents=1_234_567, status="Approved")
    owed_totals.fold_changes(brand)
    owed_totals.compute_owed_days(brand)
    return url


@pytest.mark.parametrize("path", ["/dashboard/conversions", "/dashboard/affiliates?sort=-revenue"])
def test_fifty_rows_are_two_lines_each_on_a_phone(window, shop, site, path):
    page = window(viewport=_PHONE)
    page.goto(shop)
    page.goto(site + path)
    heights = page.evaluate(_ROW_HEIGHTS)

    assert len(heights) == 50
    line = page.evaluate("parseFloat(getComputedStyle(document.body).lineHeight)")
    assert max(heights) < 3.2 * line
    assert page.evaluate("document.documentElement.scrollWidth") <= _PHONE["width"]
    if path.startswith("/dashboard/conversions"):
        assert page.evaluate("document.documentElement.scrollHeight") <= _MAX_HEIGHT


@pytest.fixture
def affiliate_link(app, brand, site, link):
    """Return a sign-in link of an affiliate with fifty conversions and fifty payouts."""
    email = f"rita-{brand.id.hex}@example.com"
    affiliate_id = brand.affiliate(f"rita-{brand.id.hex[-12:]}", email=email, email_normalized=email)
    for _ in range(50):
        insert_conversion(brand, affiliate_id, amount_cents=1_234_567, commission_cents=234_567)
    brand.rows(_PAYOUTS, affiliate_id, affiliate_id)
    url = Operator(app).json("sign-in", "affiliate", "--email", email)["url"]
    return f"{site}/sign-in{url.partition('/sign-in')[2]}"


@pytest.mark.parametrize("path", ["/portal/earnings", "/portal/payouts"])
def test_fifty_rows_of_an_affiliate_are_two_lines_each_on_a_phone(window, affiliate_link, site, path):
    page = window(viewport=_PHONE)
    page.goto(affiliate_link)
    page.goto(site + path)
    heights = page.evaluate(_ROW_HEIGHTS)

    assert len(heights) == 50
    assert max(heights) < 3.2 * page.evaluate("parseFloat(getComputedStyle(document.body).lineHeight)")
    assert page.evaluate("document.documentElement.scrollHeight") <= _MAX_HEIGHT
    assert page.evaluate("document.documentElement.scrollWidth") <= _PHONE["width"]


def test_fifty_deliveries_are_two_lines_each_on_a_phone(window, brand, link, site):
    endpoint = brand.endpoint("https://hooks.acme.example/in", ["*"])
    brand.rows(_DELIVERIES, endpoint["id"], endpoint["id"])
    page = window(viewport=_PHONE)
    page.goto(link("owner"))
    page.goto(f"{site}/dashboard/webhooks/{endpoint['id']}")
    heights = page.evaluate(_ROW_HEIGHTS)

    assert len(heights) == 50
    assert max(heights) < 3.2 * page.evaluate("parseFloat(getComputedStyle(document.body).lineHeight)")
    assert page.evaluate("document.documentElement.scrollWidth") <= _PHONE["width"]


def test_reason_of_a_commission_opens_over_the_width_of_a_phone(window, affiliate_link, site):
    page = window(viewport=_PHONE)
    page.goto(affiliate_link)
    page.goto(f"{site}/portal/earnings")
    page.get_by_text("Why?").first.click()

    assert page.locator("td:has(> details[open])").bounding_box()["width"] > 300


def test_table_keeps_its_roles_and_labels_on_a_phone(window, shop, site):
    page = window(viewport=_PHONE)
    page.goto(shop)
    page.goto(f"{site}/dashboard/affiliates")
    table = page.get_by_role("table", name="Affiliates")

    assert table.get_by_role("columnheader").count() == 8
    assert table.get_by_role("rowheader").count() == 50
    expect(table.get_by_role("row").nth(1).get_by_role("checkbox")).to_have_accessible_name(
        "Select Bartholomew Featherstonehaugh-Cholmondeley 49"
    )


def test_all_rows_of_the_page_are_selected_at_once(window, shop, site, brand):
    page = window()
    page.goto(shop)
    page.goto(f"{site}/dashboard/affiliates?status=Approved")
    page.get_by_role("checkbox", name="Select all on this page").check()
    page.get_by_role("textbox", name="Tag", exact=True).fill("autumn")
    press(page.get_by_role("button", name="Add tag"))

    expect(page.get_by_role("status").filter(has_text="Tag added: 50 affiliates.")).to_be_visible()
    assert brand.rows("select count(*) from affiliate where 'autumn' = any(tags)") == [(50,)]
    assert "status=Approved" in page.url


def test_rows_are_selected_without_scripts(window, shop, site, brand):
    page = window(java_script_enabled=False)
    page.goto(shop)
    page.goto(f"{site}/dashboard/affiliates?status=Approved")
    assert page.get_by_role("checkbox", name="Select all on this page").count() == 0
    for number in (1, 2):
        page.get_by_role("table", name="Affiliates").get_by_role("row").nth(number).get_by_role("checkbox").check()
    press(page.get_by_role("button", name="Pause", exact=True))

    expect(page.get_by_text("Paused: 2 affiliates.")).to_be_visible()
    assert brand.rows("select count(*) from affiliate where status = 'Paused' and email like 'long%%'") == [(2,)]


def test_selected_conversions_are_approved_from_the_lower_edge_of_a_phone(window, brand, link, site):
    url = link("owner")
    affiliate_id = brand.affiliate("ben")
    for _ in range(50):
        insert_conversion(brand, affiliate_id)
    page = window(viewport=_PHONE)
    page.goto(url)
    page.goto(f"{site}/dashboard/conversions?status=Pending")
    rows = page.get_by_role("table", name="Conversions").get_by_role("row")
    for number in (1, 2):
        rows.nth(number).get_by_role("checkbox").check()
    button = page.get_by_role("button", name="Approve", exact=True)
    box = button.bounding_box()
    assert box["y"] + box["height"] <= _PHONE["height"]
    press(button)

    expect(page.get_by_role("status").filter(has_text="Approved: 2 conversions.")).to_be_visible()
    assert brand.rows("select count(*) from conversion where status = 'Approved'") == [(2,)]
    assert page.url.startswith(f"{site}/dashboard/conversions?status=Pending&done=bulk")


def test_column_head_sorts_and_turns_the_order_round(window, shop, site):
    page = window()
    page.goto(shop)
    page.goto(f"{site}/dashboard/affiliates")
    press(page.get_by_role("columnheader", name="Revenue").get_by_role("link"))
    assert page.url.endswith("?sort=-revenue")
    assert page.get_by_role("columnheader", name="Revenue").get_attribute("aria-sort") == "descending"
    press(page.get_by_role("columnheader", name="Revenue").get_by_role("link"))
    assert page.url.endswith("?sort=revenue")
