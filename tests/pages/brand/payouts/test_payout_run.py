"""A payout run and its payouts on the dashboard, and the Owner's decisions. Source: the pages' interface, Run."""

import csv
import io
import re
from html import unescape

import pytest

from models import db

PAYOUTS = "/dashboard/payouts"
_AGE_LOGIN = "update web_session set signed_in_at = now() - interval '61 minutes' where email = 'owner@example.com'"


@pytest.fixture
def owner(sign_in):
    return sign_in()


@pytest.fixture
def run_address(payroll):
    """Return the address of a run that pays Ann and Ben 20.00 USD each."""
    return _create_run(payroll, "ann", "ben")


def _create_run(payroll, *slugs):
    for slug in slugs:
        if slug not in payroll.affiliates:
            payroll.affiliate(slug)
        payroll.sell(slug, 10_000)
    return f"{PAYOUTS}/runs/{payroll.run().run.id}"


def _fail_payouts(payroll):
    payroll.brand.set(sandboxRail="fail")
    payroll.pay()
    payroll.brand.set(sandboxRail="ok")


def _payout_id(payroll, slug):
    sql = "select id from payout where affiliate_id = %s order by created_at desc limit 1"
    return str(payroll.brand.rows(sql, payroll.affiliates[slug])[0][0])


def _text(answer):
    return " ".join(unescape(re.sub("<[^>]*>", " ", answer.text)).split())


def _form_of_button(answer, name):
    """Return the action and the hidden fields of the form whose button has this label, or None."""
    for action, content in re.findall(r'<form method="post" action="([^"]*)".*?>(.*?)</form>', answer.text, re.DOTALL):
        labels = re.findall(r"<button[^>]*>(.*?)</button>", content, re.DOTALL)
        if name in [unescape(re.sub("<[^>]*>", "", label)).strip() for label in labels]:
            fields = re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)"', content)
            return unescape(action), {field: unescape(value) for field, value in fields}
    return None


def _press(visitor, page, name, **typed):
    action, fields = _form_of_button(visitor.open(page), name)
    return visitor.send(action, fields | typed)


def test_run_page_shows_paid_count_and_statuses(payroll, owner, run_address):
    assert "0 of 2 paid of 40.00 USD" in _text(owner.open(run_address))
    payroll.pay()

    answer = owner.open(run_address)

    assert "2 of 2 paid" in _text(answer)
    assert answer.text.count('<span class="chip ok tick">Paid</span>') == 2
    assert "Retry" not in answer.text


def test_live_part_polls_and_is_empty_without_changes(payroll, owner, run_address):
    html = owner.open(run_address).text
    (address,) = re.findall(r'hx-get="([^"]*)"', html)
    assert 'hx-trigger="every 2s"' in html
    assert owner.open(unescape(address)).status_code == 204

    payroll.pay()
    changed = owner.open(unescape(address))

    assert changed.status_code == 200
    assert not changed.text.startswith("<!doctype")
    assert "2 of 2 paid" in _text(changed)
    assert 'hx-trigger="every 10s"' in changed.text


def test_failed_payout_shows_its_reason_and_is_retried(payroll, owner, run_address):
    _fail_payouts(payroll)
    page = owner.open(run_address)
    ((reason,), *_) = payroll.brand.rows("select failure_reason from payout")
    assert reason in _text(page)
    assert "0 of 2 paid" in _text(page)

    answer = _press(owner, run_address, "Retry Ann")

    assert (answer.status_code, answer.headers["Location"]) == (303, run_address)
    payroll.pay()
    assert "1 of 2 paid" in _text(owner.open(run_address))
    assert _form_of_button(owner.open(run_address), "Retry Ann") is None
    assert _form_of_button(owner.open(run_address), "Retry Ben") is not None


def test_voided_payout_is_shown_as_due_again(payroll, owner, run_address):
    _fail_payouts(payroll)

    answer = _press(owner, run_address, "Void Ann")

    assert (answer.status_code, answer.headers["Location"]) == (303, run_address)
    page = owner.open(run_address)
    assert '<span class="chip off">Voided</span>' in page.text
    assert (_form_of_button(page, "Retry Ann"), _form_of_button(page, "Void Ann")) == (None, None)
    assert "20.00 USD" in owner.open(f"{PAYOUTS}/new").text


def test_repeated_decision_counts_once(payroll, owner, run_address):
    _fail_payouts(payroll)
    action, fields = _form_of_button(owner.open(run_address), "Retry Ann")

    answers = [owner.send(action, fields) for _ in range(2)]

    assert [answer.status_code for answer in answers] == [303, 303]
    assert payroll.brand.rows("select max(attempt) from payout") == [(2,)]


def test_outdated_decision_shows_a_refusal_on_the_payouts_page(payroll, owner, run_address):
    _fail_payouts(payroll)
    action, fields = _form_of_button(owner.open(run_address), "Retry Ann")
    _press(owner, run_address, "Void Ann")

    answer = owner.send(action, fields)

    assert answer.status_code == 409
    assert "This payout was voided" in _text(answer)
    assert "<title>Error: " in answer.text


def test_payout_is_marked_as_paid_with_its_reference(payroll, owner, run_address):
    page = f"{PAYOUTS}/{_payout_id(payroll, 'ann')}"
    assert "Mark as paid" in owner.open(page).text

    refused = _press(owner, page, "Mark as paid", reference="  ")
    assert refused.status_code == 400
    assert 'aria-invalid="true"' in refused.text
    answer = _press(owner, page, "Mark as paid", reference="bank <17>")

    assert (answer.status_code, answer.headers["Location"]) == (303, page)
    paid_page = owner.open(page)
    assert "bank &lt;17&gt;" in paid_page.text
    assert "Manual" in _text(paid_page)
    assert "Mark as paid" not in paid_page.text
    assert ("Paid", "bank <17>") in payroll.payouts("status, external_transaction_id")


@pytest.mark.parametrize("reference", ["x" * 256, "a\x00b"])
def test_invalid_reference_keeps_the_typed_text_and_pays_nothing(payroll, owner, run_address, reference):
    answer = _press(owner, f"{PAYOUTS}/{_payout_id(payroll, 'ann')}", "Mark as paid", reference=reference)

    assert answer.status_code == 400
    assert reference in answer.text
    assert ("Paid",) not in payroll.payouts("status")


def test_payout_shows_its_lines_with_rates_and_days(payroll, owner):
    payroll.rate("EUR", "0.8")
    payroll.affiliate("ann")
    payroll.sell("ann", 10_000, "EUR")
    payroll.run()

    text = _text(owner.open(f"{PAYOUTS}/{_payout_id(payroll, 'ann')}"))

    assert "Payout to Ann" in text
    assert "20.00 EUR 0.8" in text
    assert "25.00 USD" in text


def test_long_payout_is_paged(payroll, owner):
    payroll.affiliate("ann")
    for _ in range(51):
        payroll.brand.sale(affiliateSlug="ann", amountCents=10_000)
    payroll.sell("ann", 10_000)
    payroll.run()
    page = f"{PAYOUTS}/{_payout_id(payroll, 'ann')}"

    first = owner.open(page).text
    (older,) = re.findall(r'href="([^"]*)" rel="next"', first)
    second = owner.open(unescape(older)).text

    assert (first.count("/dashboard/conversions/"), second.count("/dashboard/conversions/")) == (50, 2)
    assert 'rel="next"' not in second


def test_manual_payout_list_is_a_file_without_rail_calls(payroll, owner, run_address):
    answer = _press(owner, run_address, "Export all unsent payouts")

    assert answer.mimetype == "text/csv"
    assert answer.headers["Content-Disposition"] == 'attachment; filename="mass-pay.csv"'
    assert [row["amount"] for row in csv.DictReader(io.StringIO(answer.text))] == ["20.00", "20.00"]
    payroll.pay()
    assert "0 of 2 paid" in _text(owner.open(run_address))
    assert "Exported for manual payment." in _text(owner.open(run_address))
    assert _press(owner, run_address, "Void Ann").status_code == 303


def test_old_login_leads_to_sign_in_and_back_to_the_run(payroll, owner, run_address, sign_in):
    _fail_payouts(payroll)
    with db.any_org_work():
        db.db.run(_AGE_LOGIN)

    redirect = _press(owner, run_address, "Retry Ann")

    assert redirect.headers["Location"] == f"/sign-in?next={run_address.replace('/', '%2F')}"
    sign_in(visitor=owner)
    assert _press(owner, run_address, "Retry Ann").status_code == 303


@pytest.mark.parametrize("role", ["Viewer", "Manager", "Admin"])
def test_member_below_owner_sees_payouts_without_decisions(payroll, sign_in, run_address, role):
    _fail_payouts(payroll)
    visitor, payout_id = sign_in(role), _payout_id(payroll, "ann")

    for page in (PAYOUTS, run_address, f"{PAYOUTS}/{payout_id}"):
        answer = visitor.open(page)
        assert answer.status_code == 200
        assert set(re.findall(r'<form method="post" action="([^"]*)"', answer.text)) == {"/theme", "/sign-out"}
    for act in ("retry", "void", "mark-paid"):
        assert visitor.send(f"{PAYOUTS}/{payout_id}/{act}", {"reference": "x"}).status_code == 403
    assert payroll.brand.rows("select max(attempt) from payout") == [(1,)]


def test_run_is_filtered_by_status(payroll, owner, run_address):
    payroll.execute("update payout set status = 'Failed', failed_at = now(), failure_reason = 'No.' where id = %s",
                    _payout_id(payroll, "ann"))  # fmt: skip

    assert "Ben" not in _text(owner.open(f"{run_address}?status=Failed"))
    assert "Ann" in _text(owner.open(f"{run_address}?status=Failed"))
    assert "No payout matches this filter." in owner.open(f"{run_address}?status=Paid").text
    for query in ("?status=Lost", "?status=%00", "?status=" + "x" * 2_000):
        assert "Ann" in _text(owner.open(run_address + query))


def test_payouts_page_shows_runs_payouts_and_drafts(payroll, owner, run_address):
    payroll.execute(
        "insert into payout_proposal (id, organization_id, due_on, status, recipients, confirm_total_cents,"
        " native_totals, usd_estimate_cents, created_at) values (gen_random_uuid(), %s, current_date, 'Open', 2, 4000,"
        " '{\"USD\": 4000}', 4000, now())",
        payroll.brand.id,
    )
    page = owner.open(PAYOUTS)
    assert "2 affiliates, 40.00 USD" in _text(page)
    assert f'href="{run_address}"' in page.text
    assert "0 of 2 paid" in _text(page)

    answer = _press(owner, PAYOUTS, "Dismiss the prepared run")

    assert answer.headers["Location"] == PAYOUTS
    assert "A run was prepared for you" not in owner.open(PAYOUTS).text
    again = owner.send(f"{PAYOUTS}/dismiss", {"draft": "x"})
    assert (again.status_code, "dismissed already" in again.text) == (404, True)


def test_empty_payouts_page_shows_the_next_step(payroll, owner):
    text = _text(owner.open(PAYOUTS))

    assert "No runs yet" in text
    assert "No payouts yet" in text
