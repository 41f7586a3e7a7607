"""Payout runs from the dashboard in a real browser. Source: the pages' interface, New run, Confirm, Run."""

import re

import pytest
from playwright.sync_api import expect

from adapters import clock
from domain.payouts.transfers import Rejected
from models import db
from models.payouts import payouts
from pipelines.payouts import decisions, transfer
from tests.support.operators import Operator
from tests.support.pages.navigation import press, press_enter
from tests.support.rows.payroll import Payroll

NEW = "/dashboard/payouts/new"
_AGE_SESSION = "update web_session set signed_in_at = now() - interval '61 minutes' where email = 'owner@example.com'"


@pytest.fixture
def payroll(app):
    """Return a payroll that owes ann 20.00 USD and 12.50 USD in EUR, and ben 20.00 USD; cyd has no payout account."""
    new_payroll = Payroll.create(app)
    new_payroll.rate("EUR", "0.8")
    for slug in ("ann", "ben"):
        new_payroll.affiliate(slug)
    new_payroll.affiliate("cyd", method=None)
    new_payroll.sell("ann", 10_000, externalEventId="first")
    new_payroll.sell("ann", 5_000, "EUR")
    for slug in ("ben", "cyd"):
        new_payroll.sell(slug, 10_000)
    return new_payroll


@pytest.fixture
def sign_in(app, site, payroll):
    """Return a function that signs a page in as the Owner."""

    def sign_in_as_owner(page):
        link = Operator(app).json("sign-in", "owner", "--org", payroll.brand.id, "--email", "owner@example.com")["url"]
        page.goto(f"{site}/sign-in{link.partition('/sign-in')[2]}")

    return sign_in_as_owner


@pytest.fixture
def page(window, sign_in):
    """Return an Owner's window on the preview of a new run."""
    opened = window()
    sign_in(opened)
    opened.goto("/dashboard")
    press(opened.get_by_role("navigation", name="Dashboard").get_by_role("link", name="Payouts"))
    press(opened.get_by_role("link", name="New run"))
    return opened


def _confirm(page, total):
    page.get_by_role("textbox", name="Type the total in USD").fill(total)
    press(page.get_by_role("button", name=re.compile("^Pay ")))


def _start_run(page):
    press(page.get_by_role("link", name="Continue"))
    _confirm(page, "52.50 USD")
    expect(page).to_have_url(re.compile("/dashboard/payouts/runs/"))


def _find_row(page, name):
    return page.get_by_role("table", name="Payouts").get_by_role("row", name=name)


def _find_payout_id(payroll, slug):
    """Return the id of an affiliate's payout."""
    ((payout_id,),) = payroll.brand.rows("select id from payout where affiliate_id = %s", payroll.affiliates[slug])
    return payout_id


def test_payout_run_from_preview_to_paid(page, payroll):
    expect(page.get_by_role("heading", level=1)).to_have_text("New run")
    expect(page.locator(".total")).to_have_text("52.50 USD")
    expect(page.get_by_role("table", name="Not included").get_by_role("row", name="Cyd")).to_contain_text(
        "No payout account"
    )
    press(page.get_by_role("link", name="Continue"))
    expect(page.get_by_role("heading", level=1)).to_have_text("Confirm the payout run")

    _confirm(page, "52.51")
    expect(page.get_by_role("alert")).to_contain_text("Type 52.50 USD")
    expect(page.get_by_role("textbox", name="Type the total in USD")).to_have_value("52.51")
    assert page.title().startswith("Error: ")
    assert payroll.payouts() == []
    expect(page.get_by_role("button", name="Pay 2 affiliates")).to_be_visible()
    _confirm(page, "52.50")

    expect(page.get_by_text("0 of 2 paid")).to_be_visible()
    page.evaluate("window.isTheSame = true")
    payroll.pay()
    expect(page.get_by_text("2 of 2 paid")).to_be_visible()
    expect(_find_row(page, "Ann")).to_contain_text("Paid")
    assert page.evaluate("window.isTheSame")
    press(page.get_by_role("link", name="Ann"))
    expect(page.get_by_role("table", name="Lines").get_by_role("row")).to_have_count(3)


def test_payout_page_updates_live(page, payroll):
    _start_run(page)
    press(page.get_by_role("link", name="Ann"))
    expect(page.get_by_role("main")).to_contain_text("Pending")
    page.get_by_role("textbox", name="Payment reference").fill("bank 1")
    payroll.pay()

    expect(page.locator("#state")).to_contain_text("Paid")
    expect(page.get_by_role("textbox", name="Payment reference")).to_have_value("bank 1")


def test_refund_after_the_preview_is_shown_at_confirmation(page, payroll):
    press(page.get_by_role("link", name="Continue"))
    payroll.brand.refund("first", 5_000)
    _confirm(page, "52.50")

    expect(page.get_by_role("alert")).to_contain_text("52.50 USD → 42.50 USD")
    expect(page.locator(".total")).to_have_text("42.50 USD")
    assert payroll.payouts() == []
    _confirm(page, "42.50")
    expect(page.get_by_text("0 of 2 paid")).to_be_visible()


def test_double_click_creates_one_run(page, payroll):
    press(page.get_by_role("link", name="Continue"))
    page.get_by_role("textbox", name="Type the total in USD").fill("52.50")
    page.get_by_role("button", name="Pay 2 affiliates").dblclick()

    expect(page.get_by_text("0 of 2 paid")).to_be_visible()
    assert payroll.brand.rows("select count(*) from payout_run") == [(1,)]
    page.go_back()
    expect(page.get_by_role("heading", level=1)).to_have_text("Confirm the payout run")
    expect(page.get_by_role("button", name=re.compile("^Pay "))).to_have_count(0)
    expect(page.get_by_text("Nothing to pay")).to_be_visible()


def test_sign_in_after_an_hour_restores_the_form(page, payroll, sign_in, site):
    press(page.get_by_role("link", name="Continue"))
    with db.any_org_work():
        db.db.run(_AGE_SESSION)
    _confirm(page, "52.50 USD")
    expect(page).to_have_url(re.compile(f"^{site}/sign-in"))
    assert payroll.payouts() == []

    sign_in(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("Confirm the payout run")
    expect(page.get_by_role("textbox", name="Type the total in USD")).to_have_value("52.50 USD")
    press(page.get_by_role("button", name="Pay 2 affiliates"))
    expect(page.get_by_text("0 of 2 paid")).to_be_visible()


def _reject_payout(payroll, slug):
    """Settle a payout as rejected by its rail."""
    payout_id = _find_payout_id(payroll, slug)
    with db.unit_of_work(payroll.brand.id):
        payout = decisions.lock(organization_id=payroll.brand.id, payout_id=payout_id)
        outcome = Rejected("account_closed", "The account is closed.")
        transfer.settle(payout, payout.attempt, outcome, now=clock.now())
        assert payouts.find(organization_id=payroll.brand.id, payout_id=payout.id).status == "Failed"


def test_refused_payouts_are_retried_voided_or_paid_by_hand(page, payroll):
    _start_run(page)
    payroll.brand.set(sandboxRail="ambiguous")
    payroll.pay()
    expect(_find_row(page, "Ann")).to_contain_text("Processing")
    for slug in ("ann", "ben"):
        _reject_payout(payroll, slug)
    expect(_find_row(page, "Ann")).to_contain_text("The account is closed. (account_closed)")

    payroll.brand.set(sandboxRail="ok")
    press(page.get_by_role("button", name="Retry Ann"))
    expect(_find_row(page, "Ann")).to_contain_text("Pending")
    payroll.pay()
    expect(_find_row(page, "Ann")).to_contain_text("Paid")

    press(page.get_by_role("button", name="Void Ben"))
    expect(_find_row(page, "Ben")).to_contain_text("Voided")
    expect(page.get_by_text("1 of 2 paid")).to_be_visible()
    page.goto(NEW)
    expect(page.locator(".total")).to_have_text("20.00 USD")

    press(page.get_by_role("link", name="Continue"))
    _confirm(page, "20")
    press(page.get_by_role("link", name="Ben"))
    page.get_by_role("textbox", name="Payment reference").fill("bank 17")
    press(page.get_by_role("button", name="Mark as paid"))
    expect(page.get_by_text("bank 17")).to_be_visible()
    expect(page.get_by_role("button", name="Mark as paid")).to_have_count(0)


def _tab_to(page, role, name):
    target = page.get_by_role(role, name=name)
    for _ in range(60):
        if target.evaluate("element => element === document.activeElement"):
            assert target.evaluate("element => getComputedStyle(element).outlineStyle") == "solid"
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{name} is not reached by keyboard")


def test_run_is_confirmed_with_the_keyboard(page, payroll):
    _tab_to(page, "link", "Continue")
    press_enter(page)
    _tab_to(page, "textbox", "Type the total in USD")
    page.keyboard.type("1")
    press_enter(page)
    expect(page.get_by_role("alert")).to_be_focused()
    _tab_to(page, "textbox", "Type the total in USD")
    page.keyboard.press("Control+A")
    page.keyboard.type("52.50")
    _tab_to(page, "button", "Pay 2 affiliates")
    press_enter(page)

    expect(page.get_by_text("0 of 2 paid")).to_be_visible()


def test_run_is_confirmed_without_scripts(window, sign_in, payroll):
    page = window(java_script_enabled=False)
    sign_in(page)
    page.goto(NEW)
    _start_run(page)
    payroll.brand.set(sandboxRail="fail")
    payroll.pay()
    payroll.brand.set(sandboxRail="ok")
    page.reload()
    press(page.get_by_role("button", name="Retry Ann"))
    payroll.pay()
    page.reload()

    expect(page.get_by_text("1 of 2 paid")).to_be_visible()


def test_printed_receipt_leaves_out_controls(page, payroll):
    _start_run(page)
    press(page.get_by_role("link", name="Ann"))
    page.emulate_media(media="print")

    expect(page.get_by_role("table", name="Lines")).to_be_visible()
    expect(page.get_by_role("navigation", name="Dashboard")).to_be_hidden()
    expect(page.get_by_role("button", name="Mark as paid")).to_be_hidden()
