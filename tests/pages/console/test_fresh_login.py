"""An operator with an old login must sign in again to decide about money; the typed form is restored."""

import pytest

from domain import jobs
from models import db
from tests.support.outside.console import stage_failed_job
from tests.support.rows.payroll import Payroll

_OPERATOR = ("operator", "--email", "nora@example.com")


@pytest.fixture
def nora(visitor, links):
    """A browser of the operator Nora, who signed in more than an hour ago."""
    visitor.open(links(*_OPERATOR))
    with db.any_org_work():
        db.db.run(
            "update web_session set signed_in_at = now() - interval '61 minutes' where email = 'nora@example.com'"
        )
    return visitor


def _follow_fresh_login(nora, links, answer):
    """Sign in again by a new link; return the address to which it redirects and the text of that page."""
    assert answer.status_code == 303
    assert answer.headers["Location"].startswith("/sign-in?next=%2Fconsole")
    address = nora.open(links(*_OPERATOR)).headers["Location"]
    return address, nora.open(address).text


def test_review_is_restored_after_a_fresh_login(nora, links, app):
    payroll = Payroll.create_owing(app)
    address = f"/console/payouts/runs/{payroll.create_run_under_review()}"
    form = {"decision": "reject", "why": "a stolen <card>"}
    redirected_to, html = _follow_fresh_login(nora, links, nora.send(address, form | {"_key": "a"}))

    assert redirected_to == address
    assert 'value="reject" checked' in html
    assert 'value="a stolen &lt;card&gt;"' in html
    assert payroll.payouts("status") == [("Pending",)]
    assert nora.send(address, form | {"_key": "b"}).status_code == 303
    assert payroll.payouts("status") == [("Failed",)]


def test_typed_settlement_is_restored_after_a_fresh_login(nora, links, app):
    payroll = Payroll.create_owing(app)
    address = f"/console/payouts/{payroll.create_stuck_payout()}/settle"
    redirected_to, html = _follow_fresh_login(
        nora, links, nora.send(address, {"end": "paidAs", "said": "tr_77", "_key": "a"})
    )

    assert redirected_to == address
    assert 'value="paidAs" checked' in html
    assert 'value="tr_77"' in html
    assert payroll.payouts("status") == [("Processing",)]


def test_operators_sign_in_page_shows_only_the_operator_command(nora, brand):
    redirect = nora.send(f"/console/tenants/{brand.id}", {"setting": "plan", "value": "Pro", "why": "w", "_key": "a"})
    html = nora.open(redirect.headers["Location"]).text

    assert "flask sign-in operator --email nora@example.com" in html
    assert "Send me a link" not in html
    assert "flask sign-in owner" not in html


def test_setting_is_restored_after_a_fresh_login(nora, links, brand):
    address = f"/console/tenants/{brand.id}"
    form = {"setting": "fraudScore", "value": "7", "why": "chargebacks", "_key": "a"}
    redirected_to, html = _follow_fresh_login(nora, links, nora.send(address, form))

    assert redirected_to == address
    assert '<option value="fraudScore" selected>' in html
    assert 'value="chargebacks"' in html
    assert brand.rows("select fraud_score from organization") == [(0,)]


def test_discard_is_restored_on_the_letters_page(nora, links, brand):
    letter = stage_failed_job(brand)
    letter_page = f"/console/dead/{letter}"
    list_html = nora.open("/console/dead").text
    redirected_to, html = _follow_fresh_login(
        nora, links, nora.send(f"{letter_page}/discard", {"why": "paid by hand", "_page": letter_page, "_key": "a"})
    )
    without_reason = nora.send(f"{letter_page}/discard", {"why": " ", "own": "1", "_page": letter_page, "_key": "b"})

    assert f'<input type="hidden" name="_page" value="{letter_page}">' in list_html
    assert redirected_to == letter_page
    assert 'value="paid by hand"' in html
    assert (
        without_reason.status_code,
        'aria-invalid="true"' in without_reason.text,
        f"<h1>{letter}" in without_reason.text,
    ) == (
        422,
        True,
        True,
    )
    assert nora.send(f"{letter_page}/discard", {"why": "paid by hand", "own": "1", "_key": "c"}).status_code == 303


def test_replay_of_a_money_job_returns_to_its_letter(nora, links, brand):
    letter = stage_failed_job(brand, job=jobs.PAYOUT_TRANSFER)
    letter_page = f"/console/dead/{letter}"
    redirected_to, html = _follow_fresh_login(
        nora, links, nora.send(f"{letter_page}/replay", {"_page": letter_page, "_key": "a"})
    )

    assert redirected_to == letter_page
    assert "Replay" in html
    assert nora.send(f"{letter_page}/replay", {"_page": letter_page, "_key": "b"}).status_code == 303


def test_filtered_replay_is_restored_with_its_filter(nora, links, brand):
    stage_failed_job(brand), stage_failed_job(brand)
    address = f"/console/dead/replay?organizationId={brand.id}"
    html = nora.open(address).text
    form = {"organizationId": str(brand.id), "count": "2", "why": "mended", "_page": address, "_key": "a"}
    redirected_to, restored = _follow_fresh_login(nora, links, nora.send("/console/dead/replay", form))

    assert f'<input type="hidden" name="_page" value="{address}">' in html
    assert redirected_to == address
    assert 'value="mended"' in restored
    assert "Replay 2 dead letters" in restored
