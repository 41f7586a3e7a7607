"""The names that the pages' interface gives to what one reads and presses, found by role as people find it."""

import re

import pytest
from playwright.sync_api import expect

from tests.support.operators import Operator
from tests.support.pages import full_brands
from tests.support.pages.navigation import press


@pytest.fixture
def full_brand(app):
    """A brand with something of everything."""
    return full_brands.create_full_brand(app)


@pytest.fixture
def page(window, site, app, full_brand):
    """What opens a window in which somebody of the brand is signed in."""

    def enter(who):
        more = {"owner": ("--org", full_brand.brand.id), "affiliate": ("--email", full_brand.email), "operator": ()}[
            who
        ]
        link = Operator(app).json("sign-in", who, *more)["url"]
        opened = window()
        opened.goto(f"{site}/sign-in{link.partition('/sign-in')[2]}")
        return opened

    return enter


def _begins(words):
    return re.compile(f"^{re.escape(words)}", re.IGNORECASE)


def _lacks(page, address, *wanted):
    """Return what a page has not of roles and beginnings of names."""
    page.goto(address)
    return [
        f"{address}: {role} {name}"
        for role, name in wanted
        if not page.get_by_role(role, name=_begins(name), include_hidden=False).count()
    ]


def test_dashboard_matches_the_page_contract(page, full_brand):
    opened, names = page("owner"), full_brand.names
    program, endpoint = f"/dashboard/programs/{names['program_id']}", f"/dashboard/webhooks/{names['endpoint_id']}"
    wrong = [
        *_lacks(opened, "/dashboard", ("heading", "Waiting for you"), ("navigation", "Dashboard")),
        *_lacks(
            opened,
            "/dashboard/programs/new",
            ("textbox", "Name"),
            ("textbox", "Slug"),
            ("combobox", "Commission type"),
            ("textbox", "Commission"),
            ("button", "Create program"),
        ),
        *_lacks(opened, program, ("link", "Install")),
        *_lacks(
            opened,
            f"{program}/install",
            ("textbox", "Your tag"),
            ("button", "Copy"),
            ("list", "Checks"),
            ("textbox", "Page to check"),
            ("button", "Check"),
        ),
        *_lacks(
            opened,
            "/dashboard/affiliates/applications",
            ("table", "Applications"),
            ("button", "Approve Ada Ek"),
            ("button", "Reject Ada Ek"),
        ),
        *_lacks(
            opened,
            "/dashboard/conversions?status=Pending",
            ("table", "Conversions"),
            ("combobox", "Status"),
            ("combobox", "Program"),
            ("button", "Filter"),
        ),
        *_lacks(opened, f"/dashboard/conversions/{names['conversion_id']}", ("list", "Why credited")),
        *_lacks(opened, f"/dashboard/payouts/runs/{names['run_id']}", ("table", "Payouts")),
        *_lacks(opened, "/dashboard/imports/new", ("combobox", "Program"), ("button", "Preview")),
        *_lacks(opened, f"/dashboard/imports/{names['import_id']}/undo", ("button", "Undo import")),
        *_lacks(opened, endpoint, ("table", "Deliveries")),
        *_lacks(
            opened,
            f"{endpoint}/deliveries/{names['delivery_id']}",
            ("heading", "Payload"),
            ("heading", "Attempts"),
        ),
    ]
    assert wrong == []


def test_every_page_names_its_list_once(page, full_brand):
    """A name that two tables bear would be none."""
    opened, wrong = page("owner"), []
    names = full_brand.names
    for address, name in (
        ("/dashboard/affiliates/applications", "Applications"),
        ("/dashboard/conversions", "Conversions"),
        ("/dashboard/payouts", "Payouts"),
        (f"/dashboard/payouts/runs/{names['run_id']}", "Payouts"),
        (f"/dashboard/webhooks/{names['endpoint_id']}", "Deliveries"),
    ):
        opened.goto(address)
        if opened.get_by_role("table", name=_begins(name)).count() != 1:
            wrong.append(address)
    assert wrong == []


def test_attribution_steps_are_in_order_with_one_decisive(page, full_brand):
    opened = page("owner")
    opened.goto("/dashboard/conversions?status=Pending")
    table = opened.get_by_role("table", name="Conversions")
    rows = table.get_by_role("row").filter(has=opened.get_by_role("rowheader"))
    assert rows.count() == table.get_by_role("rowheader").get_by_role("link").count() > 0
    assert opened.get_by_role("combobox", name="Status").input_value() == "Pending"
    press(rows.first.get_by_role("link").first)
    assert re.search("/conversions/[0-9a-f-]{36}$", opened.url)
    steps = opened.get_by_role("list", name="Why credited").get_by_role("listitem")
    assert [text.partition("\n")[0] for text in steps.all_inner_texts()] == [
        "Coupon that overrides",
        "Carried referral",
        "Customer's history",
        "Coupon",
        "Email match",
        "Platform look-up",
    ]
    expect(steps.filter(has_text=re.compile(r"\bdecided\b"))).to_have_count(1)
    expect(opened.locator("time").first).to_have_attribute("datetime", re.compile(r"^\d{4}-\d\d-\d\dT"))


def test_portal_matches_the_page_contract(page):
    opened = page("affiliate")
    wrong = [
        *_lacks(
            opened,
            "/portal",
            ("navigation", "Portal"),
            ("table", "Balances"),
            ("columnheader", "On hold"),
            ("columnheader", "Payable"),
            ("columnheader", "On its way"),
            ("columnheader", "Paid"),
            ("textbox", "Your link"),
        ),
        *_lacks(opened, "/portal/earnings", ("table", "Earnings")),
        *_lacks(
            opened,
            "/portal/payout-account",
            ("combobox", "Method"),
            ("textbox", "Wallet email"),
            ("button", "Save"),
        ),
    ]
    assert wrong == []
    opened.goto("/portal")
    assert opened.get_by_role("textbox", name=_begins("Your link")).first.get_attribute("readonly") is not None


def test_console_matches_the_page_contract(page, full_brand):
    opened, number = page("operator"), full_brand.names["number"]
    wrong = [
        *_lacks(
            opened,
            "/console",
            ("navigation", "Console"),
            ("table", "Queues"),
            ("rowheader", "sales"),
            ("button", "Pause sales"),
            ("button", "Hold still"),
        ),
        *_lacks(opened, "/console/queues/sales/pause", ("textbox", "Why"), ("button", "Pause sales")),
    ]
    opened.goto("/console/dead")
    letter = opened.get_by_role("group").filter(has_text=re.compile(rf"\b{number}\b"))
    letter.locator("summary").click()
    letter.get_by_role("button", name="Replay").wait_for()
    for role, name in (
        ("button", "Replay"),
        ("textbox", "Or discard, because"),
        ("button", "Discard for ever"),
    ):
        if letter.get_by_role(role, name=_begins(name)).count() != 1:
            wrong.append(f"/console/dead: {role} {name}")
    assert wrong == []
