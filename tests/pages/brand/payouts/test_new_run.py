"""A payout run from the dashboard: preview, and confirmation by the typed total. Source: the pages' interface."""

import functools
import re
from html import unescape

import pytest

from domain.payouts.plan import BlockReason
from models import db
from pages.brand.payouts import run_preview
from tests.support.api.concurrency import run_concurrently
from tests.support.outside.visitor import Visitor

NEW, CONFIRM = "/dashboard/payouts/new", "/dashboard/payouts/new/confirm"
_HIDDEN = re.compile(r'<input type="hidden" name="(_key|figures)" value="([^"]*)"')


@pytest.fixture
def due_payroll(payroll):
    """A payroll that owes Ann 20.00 USD and 10.00 EUR (12.50 USD), and Cyd, who has no payout account, 20.00 USD."""
    payroll.rate("EUR", "0.8")
    payroll.affiliate("ann")
    payroll.affiliate("cyd", method=None)
    payroll.sell("ann", 10_000, externalEventId="first")
    payroll.sell("ann", 5_000, "EUR")
    payroll.sell("cyd", 10_000)
    return payroll


@pytest.fixture
def owner(sign_in):
    return sign_in()


def hidden_fields(answer):
    """Return the hidden fields of the form that confirms the run."""
    (form,) = re.findall(rf'<form method="post" action="{CONFIRM}".*?</form>', answer.text, re.DOTALL)
    return {name: unescape(value) for name, value in _HIDDEN.findall(form)}


def confirm(visitor, total, page=None):
    return visitor.send(CONFIRM, hidden_fields(page or visitor.open(CONFIRM)) | {"total": total})


def alert_text(answer):
    (alert,) = re.findall(r'role="alert".*?</div>', answer.text, re.DOTALL)
    return unescape(re.sub("<[^>]*>", " ", alert))


def test_preview_shows_the_total_and_skipped_affiliates(due_payroll, owner):
    html = owner.open(NEW).text

    assert "32.50 USD" in html
    assert "to 1 affiliate, for 2 conversions" in html
    assert "No payout account" in html
    assert f'href="{CONFIRM}">Continue</a>' in html


def test_affiliate_below_one_cent_is_skipped_with_the_reason(due_payroll, owner):
    due_payroll.rate("VND", "25400")
    due_payroll.affiliate("vin")
    due_payroll.sell("vin", 300, "VND")

    html = owner.open(NEW).text

    assert "32.50 USD" in html
    assert "to 1 affiliate, for 2 conversions" in html
    assert "Each commission is worth less than one cent after conversion" in html
    assert confirm(owner, "32.50").status_code == 303
    assert due_payroll.payouts() == [("Pending", 3_250)]


def test_every_block_reason_has_an_explanation_and_a_remedy():
    assert set(run_preview.REASONS) == set(run_preview.REMEDIES) == {reason.value for reason in BlockReason}


def test_run_with_a_netted_debt_larger_in_another_currency_is_confirmed(payroll, owner):
    # given: 100.00 USD were paid before a restore, and 70.00 EUR, worth 140.00 USD, are due
    payroll.rate("EUR", "0.5")
    payroll.affiliate("ann")
    payroll.sell("ann", 50_000, externalEventId="first")
    payroll.run()
    payroll.pay()
    payroll.brand.refund("first")
    payroll.execute("update conversion set source = 'restore'")
    payroll.sell("ann", 35_000, "EUR")

    answer = confirm(owner, "40.00")

    assert answer.status_code == 303
    assert [cents for (cents,) in payroll.payouts("amount_cents")] == [10_000, 4_000]


def test_confirmation_lists_the_payout_methods(due_payroll, owner):
    due_payroll.affiliate("wal", method="Wallet")
    due_payroll.affiliate("wim", method="Wallet")
    for slug in ("wal", "wim"):
        due_payroll.sell(slug, 10_000)

    assert "Paid by Wallet for 2 affiliates, Connected account for 1 affiliate.</p>" in owner.open(CONFIRM).text


def test_zero_total_offers_no_confirmation(payroll, owner):
    assert "Nothing to pay" in owner.open(NEW).text
    assert "Continue" not in owner.open(NEW).text
    answer = owner.open(CONFIRM)
    assert (answer.status_code, "<h1>Confirm the payout run</h1>" in answer.text) == (200, True)
    assert f'action="{CONFIRM}"' not in answer.text


@pytest.mark.parametrize("typed", ["32.50 USD", "32.50", " 32.5 ", "32.50usd"])
def test_total_is_accepted_as_shown_or_as_digits(due_payroll, owner, typed):
    page = owner.open(CONFIRM)
    assert "Pay 1 affiliate<" in page.text

    answer = confirm(owner, typed, page)

    ((run_id,),) = due_payroll.brand.rows("select id from payout_run")
    assert (answer.status_code, answer.headers["Location"]) == (303, f"/dashboard/payouts/runs/{run_id}")
    assert due_payroll.payouts() == [("Pending", 3_250)]


@pytest.mark.parametrize(
    "typed", ["", "32.51", "3250", "32,50", "52.50", "-32.50", "32.50 EUR", "<b>", "x" * 500, "\x00", "٣٢٫٥٠", "1e1"]
)
def test_wrong_total_pays_nothing_and_keeps_the_typed_text(due_payroll, owner, typed):
    answer = confirm(owner, typed)

    assert answer.status_code == 422
    assert "This is not the total. Type 32.50 USD." in alert_text(answer)
    assert "<title>Error: " in answer.text
    assert 'aria-invalid="true"' in answer.text
    (value,) = re.findall(r'name="total" type="text" value="([^"]*)"', answer.text)
    assert unescape(value) == typed
    assert due_payroll.payouts() == []
    assert confirm(owner, "32.50", answer).status_code == 303


def test_refund_after_the_preview_shows_both_totals_and_pays_nothing(due_payroll, owner):
    page = owner.open(CONFIRM)
    due_payroll.brand.refund("first", 5_000)

    answer = confirm(owner, "32.50", page)

    assert answer.status_code == 409
    assert "32.50 USD → 22.50 USD" in alert_text(answer)
    assert "20.00 USD → 10.00 USD" in alert_text(answer)
    assert "nothing was paid" in alert_text(answer)
    assert due_payroll.payouts() == []
    assert confirm(owner, "32.50", answer).status_code == 422
    assert confirm(owner, "22.50", answer).status_code == 303
    assert due_payroll.payouts() == [("Pending", 2_250)]


def test_changed_exchange_rate_counts_as_a_changed_amount(due_payroll, owner):
    page = owner.open(CONFIRM)
    due_payroll.rate("EUR", "0.5")

    answer = confirm(owner, "32.50", page)

    assert (answer.status_code, "32.50 USD → 40.00 USD" in alert_text(answer)) == (409, True)
    assert due_payroll.payouts() == []


def test_changed_amounts_with_an_equal_total_are_not_paid(due_payroll, owner):
    page = owner.open(CONFIRM)
    due_payroll.brand.refund("first", 6_250)
    due_payroll.sell("ann", 5_000, "EUR")

    answer = confirm(owner, "32.50", page)

    assert answer.status_code == 409
    assert "10.00 EUR → 20.00 EUR" in alert_text(answer)
    assert due_payroll.payouts() == []


def test_new_total_of_zero_shows_no_total_field(due_payroll, owner):
    page = owner.open(CONFIRM)
    due_payroll.execute("update conversion set disputed_at = now() where organization_id = %s", due_payroll.brand.id)

    answer = confirm(owner, "32.50", page)

    assert answer.status_code == 409
    assert "32.50 USD → 0.00 USD" in alert_text(answer)
    assert "Nothing to pay" in answer.text
    assert 'name="total"' not in answer.text


@pytest.mark.parametrize(
    "figures",
    [
        "",
        "x",
        "[]",
        "[3250]",
        '[3250, {"USD": true}, {}]',
        '[3250, {"XXX": 1}, {}]',
        '[3250, {"USD": -1}, {}]',
        '[3250, {"USD": 1e400}, {}]',
        f'[3250, {{"USD": {10**30}}}, {{}}]',
        '[3250, {"USD": 2000}, {"USD": 1}]',
        '[3250, {"USD": 2000}, {"EUR": {"rate": "1", "asOf": null}}]',
        "[" * 900 + "]" * 900,
        "\x00",
        '["\\ud800", {}, {}]',
    ],
)
def test_forged_amounts_pay_nothing(due_payroll, owner, figures):
    form = hidden_fields(owner.open(CONFIRM)) | {"total": "32.50", "figures": figures}

    answer = owner.send(CONFIRM, form)

    assert answer.status_code in (409, 422)
    assert "nothing was paid" in alert_text(answer)
    assert due_payroll.payouts() == []


@pytest.mark.parametrize("figures", ['[3250, {"USD": 3250}, {}]', "[3250, {}, {}]", '[1, {"EUR": 1, "USD": 0}, {}]'])
def test_mismatched_amounts_pay_nothing(due_payroll, owner, figures):
    total = "0.01" if figures.startswith("[1,") else "32.50"

    answer = owner.send(CONFIRM, hidden_fields(owner.open(CONFIRM)) | {"total": total, "figures": figures})

    assert answer.status_code == 409
    assert due_payroll.payouts() == []


def test_repeated_submission_creates_one_run(due_payroll, owner):
    page = owner.open(CONFIRM)

    answers = [confirm(owner, "32.50", page) for _ in range(3)]

    assert len({answer.headers["Location"] for answer in answers}) == 1
    assert due_payroll.payouts() == [("Pending", 3_250)]


def test_concurrent_submissions_create_one_run(due_payroll, app, owner):
    form = hidden_fields(owner.open(CONFIRM)) | {"total": "32.50"}
    tabs = [Visitor(app) for _ in range(3)]
    for tab in tabs:
        tab.client.set_cookie("finderfee", owner.cookie)

    answers = run_concurrently(*[functools.partial(tab.send, CONFIRM, form) for tab in tabs])

    assert {answer.status_code for answer in answers} == {303}
    ((run_id,),) = due_payroll.brand.rows("select id from payout_run")
    assert {answer.headers["Location"] for answer in answers} == {f"/dashboard/payouts/runs/{run_id}"}
    assert due_payroll.payouts() == [("Pending", 3_250)]


def test_blocked_payouts_show_the_reason(due_payroll, owner):
    page = owner.open(CONFIRM)
    due_payroll.brand.set(fundingFrozen="on")

    answer = confirm(owner, "32.50", page)

    assert answer.status_code == 409
    assert "bank dispute" in alert_text(answer)
    assert "Continue" not in owner.open(NEW).text
    assert "bank dispute" in owner.open(NEW).text
    due_payroll.brand.set(fundingFrozen="off")
    assert confirm(owner, "32.50", answer).status_code == 303


@pytest.mark.parametrize(("role", "sees_total"), [("Admin", True), ("Manager", True), ("Viewer", False)])
def test_only_an_owner_confirms(due_payroll, sign_in, role, sees_total):
    visitor = sign_in(role)

    answer = visitor.open(NEW)

    assert (answer.status_code, "32.50 USD" in answer.text, "Continue" in answer.text) == (200, sees_total, False)
    assert visitor.open(CONFIRM).status_code == 403
    assert visitor.send(CONFIRM, {"total": "32.50"}).status_code == 403
    assert due_payroll.payouts() == []


def test_held_amount_is_shown_with_its_release_day(due_payroll, owner):
    due_payroll.brand.set(payoutGraceDays="30")

    html = owner.open(NEW).text

    assert "On hold</h2>" in html
    assert re.search(
        r'<time datetime="\d{4}-\d\d-\d\d">.*?</th><td class="num"[^>]*>2</td><td class="num"[^>]*>40.00 USD', html
    )


_AGE_LOGIN = "update web_session set signed_in_at = now() - interval '61 minutes' where email = 'owner@example.com'"


def _age_login():
    with db.any_org_work():
        db.db.run(_AGE_LOGIN)


def test_fresh_login_after_an_hour_restores_the_form(due_payroll, owner, sign_in):
    page = owner.open(CONFIRM)
    _age_login()

    redirect = confirm(owner, "32.50 USD", page)

    assert (redirect.status_code, redirect.headers["Location"].partition("?")[0]) == (303, "/sign-in")
    assert due_payroll.payouts() == []
    sign_in(visitor=owner)
    restored = owner.open(CONFIRM)
    assert 'name="total" type="text" value="32.50 USD"' in restored.text
    assert 'role="alert"' not in restored.text
    assert confirm(owner, "32.50 USD", restored).status_code == 303
    assert due_payroll.payouts() == [("Pending", 3_250)]


def test_changes_during_a_fresh_login_are_shown(due_payroll, owner, sign_in):
    page = owner.open(CONFIRM)
    _age_login()
    confirm(owner, "32.50", page)
    due_payroll.brand.refund("first", 5_000)

    sign_in(visitor=owner)
    restored = owner.open(CONFIRM)

    assert "32.50 USD → 22.50 USD" in alert_text(restored)
    assert 'value="32.50"' in restored.text


def test_affiliate_name_is_escaped(due_payroll, owner):
    due_payroll.execute("update affiliate set full_name = '<b>x</b>' where id = %s", due_payroll.affiliates["ann"])

    assert "<b>x</b>" not in owner.open(NEW).text
    assert "&lt;b&gt;x&lt;/b&gt;" in owner.open(NEW).text
