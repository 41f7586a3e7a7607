"""The roles and names of texts and controls that the pages' interface promises, found by role as users find them."""

import re

import pytest
from playwright.sync_api import expect

from tests.support.operators import Operator
from tests.support.pages import full_brands
from tests.support.pages.navigation import press


@pytest.fixture
def full_brand(app):
    """Return a brand with a row of every kind."""
    return full_brands.create_full_brand(app)


@pytest.fixture
def page(window, site, app, full_brand):
    """Return a function that opens a window signed in as the brand's owner, its affiliate or the operator."""
    options = {"owner": ("--org", full_brand.brand.id), "affiliate": ("--email", full_brand.email), "operator": ()}

    def open_signed_in(role):
        link = Operator(app).json("sign-in", role, *options[role])["url"]
        opened = window()
        opened.goto(f"{site}/sign-in{link.partition('/sign-in')[2]}")
        return opened

    return open_signed_in


def _starts_with(words):
    return re.compile(f"^{re.escape(words)}", re.IGNORECASE)


def _list_missing(page, address, *expected):
    """Return the expected pairs of role and start of a name that a page lacks."""
    page.goto(address)
    return [
        f"{address}: {role} {name}"
        for role, name in expected
        if not page.get_by_role(role, name=_starts_with(name), include_hidden=False).count()
    ]


def test_dashboard_matches_the_page_contract(page, full_brand):
    opened, names = page("owner"), full_brand.names
    program, endpoint = f"/dashboard/programs/{names['program_id']}", f"/dashboard/webhooks/{names['endpoint_id']}"
    missing = [
        *_list_missing(opened, "/dashboard", ("heading", "Waiting for you"), ("navigation", "Dashboard")),
        *_list_missing(
            opened,
            "/dashboard/programs/new",
            ("textbox", "Name"),
            ("textbox", "Slug"),
            ("combobox", "Commission type"),
            ("textbox", "Commission"),
            ("button", "Create program"),
        ),
        *_list_missing(opened, program, ("link", "Install")),
        *_list_missing(
            opened,
            f"{program}/install",
            ("textbox", "Your tag"),
            ("button", "Copy"),
            ("list", "Checks"),
            ("textbox", "Page to check"),
            ("button", "Check"),
        ),
        *_list_missing(
            opened,
            "/dashboard/affiliates/applications",
            ("table", "Applications"),
            ("button", "Approve Ada Ek"),
            ("button", "Reject Ada Ek"),
        ),
        *_list_missing(
            opened,
            "/dashboard/conversions?status=Pending",
            ("table", "Conversions"),
            ("combobox", "Status"),
            ("combobox", "Program"),
            ("button", "Filter"),
        ),
        *_list_missing(opened, f"/dashboard/conversions/{names['conversion_id']}", ("list", "Why credited")),
        *_list_missing(opened, f"/dashboard/payouts/runs/{names['run_id']}", ("table", "Payouts")),
        *_list_missing(opened, "/dashboard/imports/new", ("combobox", "Program"), ("button", "Preview")),
        *_list_missing(opened, f"/dashboard/imports/{names['import_id']}/undo", ("button", "Undo import")),
        *_list_missing(opened, endpoint, ("table", "Deliveries")),
        *_list_missing(
            opened,
            f"{endpoint}/deliveries/{names['delivery_id']}",
            ("heading", "Payload"),
            ("heading", "Attempts"),
        ),
    ]
    assert missing == []


def test_every_page_names_its_list_once(page, full_brand):
    """Two tables with the same name could not be told apart."""
    opened, ambiguous = page("owner"), []
    names = full_brand.names
    for address, name in (
        ("/dashboard/affiliates/applications", "Applications"),
        ("/dashboard/conversions", "Conversions"),
        ("/dashboard/payouts", "Payouts"),
        (f"/dashboard/payouts/runs/{names['run_id']}", "Payouts"),
        (f"/dashboard/webhooks/{names['endpoint_id']}", "Deliveries"),
    ):
        opened.goto(address)
        if opened.get_by_role("table", name=_starts_with(name)).count() != 1:
            ambiguous.append(address)
    assert ambiguous == []


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
    missing = [
        *_list_missing(
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
        *_list_missing(opened, "/portal/earnings", ("table", "Earnings")),
        *_list_missing(
            opened,
            "/portal/payout-account",
            ("combobox", "Method"),
            ("textbox", "Wallet email"),
            ("button", "Save"),
        ),
    ]
    assert missing == []
    opened.goto("/portal")
    assert opened.get_by_role("textbox", name=_starts_with("Your link")).first.get_attribute("readonly") is not None


def test_console_matches_the_page_contract(page, full_brand):
    opened, number = page("operator"), full_brand.names["number"]
    missing = [
        *_list_missing(
            opened,
            "/console",
            ("navigation", "Console"),
            ("table", "Queues"),
            ("rowheader", "sales"),
            ("button", "Pause sales"),
            ("button", "Pause live updates"),
        ),
        *_list_missing(opened, "/console/queues/sales/pause", ("textbox", "Why"), ("button", "Pause sales")),
    ]
    opened.goto("/console/dead")
    dead_letter = opened.get_by_role("group").filter(has_text=re.compile(rf"\b{number}\b"))
    dead_letter.locator("summary").click()
    dead_letter.get_by_role("button", name="Replay").wait_for()
    for role, name in (
        ("button", "Replay"),
        ("textbox", "Or discard, because"),
        ("button", "Discard for ever"),
    ):
        if dead_letter.get_by_role(role, name=_starts_with(name)).count() != 1:
            missing.append(f"/console/dead: {role} {name}")
    assert missing == []
