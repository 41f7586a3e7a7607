"""An operator who logged in long ago decides about money after a new link, and what they typed is still there."""

import pytest

from domain import jobs
from models import db
from tests.support.outside.console import stage_failed_job
from tests.support.rows.payroll import Payroll

_OPERATOR = ("operator", "--email", "nora@example.com")


@pytest.fixture
def nora(visitor, links):
    """An operator of more than an hour ago."""
    visitor.open(links(*_OPERATOR))
    with db.any_org_work():
        db.db.run(
            "update web_session set signed_in_at = now() - interval '61 minutes' where email = 'nora@example.com'"
        )
    return visitor


def _follow_fresh_login(nora, links, answer):
    """Return where a new link leads, and what stands there."""
    assert answer.status_code == 303
    assert answer.headers["Location"].startswith("/sign-in?next=%2Fconsole")
    led = nora.open(links(*_OPERATOR)).headers["Location"]
    return led, nora.open(led).text


def test_review_is_restored_after_a_fresh_login(nora, links, app):
    payroll = Payroll.create_owing(app)
    address = f"/console/payouts/runs/{payroll.create_run_under_review()}"
    form = {"decision": "reject", "why": "a stolen <card>"}
    led, shown = _follow_fresh_login(nora, links, nora.send(address, form | {"_key": "a"}))

    assert led == address
    assert 'value="reject" checked' in shown
    assert 'value="a stolen &lt;card&gt;"' in shown
    assert payroll.payouts("status") == [("Pending",)]
    assert nora.send(address, form | {"_key": "b"}).status_code == 303
    assert payroll.payouts("status") == [("Failed",)]


def test_typed_settlement_is_restored_after_a_fresh_login(nora, links, app):
    payroll = Payroll.create_owing(app)
    address = f"/console/payouts/{payroll.create_stuck_payout()}/settle"
    led, shown = _follow_fresh_login(nora, links, nora.send(address, {"end": "paidAs", "said": "tr_77", "_key": "a"}))

    assert led == address
    assert 'value="paidAs" checked' in shown
    assert 'value="tr_77"' in shown
    assert payroll.payouts("status") == [("Processing",)]


def test_fresh_login_shows_only_the_operators_own_way(nora, brand):
    led = nora.send(f"/console/tenants/{brand.id}", {"setting": "plan", "value": "Pro", "why": "w", "_key": "a"})
    html = nora.open(led.headers["Location"]).text

    assert "flask sign-in operator --email nora@example.com" in html
    assert "Send me a link" not in html
    assert "flask sign-in owner" not in html


def test_setting_is_restored_after_a_fresh_login(nora, links, brand):
    address = f"/console/tenants/{brand.id}"
    form = {"setting": "fraudScore", "value": "7", "why": "chargebacks", "_key": "a"}
    led, shown = _follow_fresh_login(nora, links, nora.send(address, form))

    assert led == address
    assert '<option value="fraudScore" selected>' in shown
    assert 'value="chargebacks"' in shown
    assert brand.rows("select fraud_score from organization") == [(0,)]


def test_discard_is_restored_on_the_letters_page(nora, links, brand):
    letter = stage_failed_job(brand)
    own = f"/console/dead/{letter}"
    listed = nora.open("/console/dead").text
    led, shown = _follow_fresh_login(
        nora, links, nora.send(f"{own}/discard", {"why": "paid by hand", "_page": own, "_key": "a"})
    )
    silent = nora.send(f"{own}/discard", {"why": " ", "own": "1", "_page": own, "_key": "b"})

    assert f'<input type="hidden" name="_page" value="{own}">' in listed
    assert led == own
    assert 'value="paid by hand"' in shown
    assert (silent.status_code, 'aria-invalid="true"' in silent.text, f"<h1>{letter}" in silent.text) == (
        422,
        True,
        True,
    )
    assert nora.send(f"{own}/discard", {"why": "paid by hand", "own": "1", "_key": "c"}).status_code == 303


def test_replay_of_a_money_job_returns_to_its_letter(nora, links, brand):
    letter = stage_failed_job(brand, job=jobs.PAYOUT_TRANSFER)
    own = f"/console/dead/{letter}"
    led, shown = _follow_fresh_login(nora, links, nora.send(f"{own}/replay", {"_page": own, "_key": "a"}))

    assert led == own
    assert "Replay" in shown
    assert nora.send(f"{own}/replay", {"_page": own, "_key": "b"}).status_code == 303


def test_filtered_replay_is_restored_with_its_filter(nora, links, brand):
    stage_failed_job(brand), stage_failed_job(brand)
    address = f"/console/dead/replay?organizationId={brand.id}"
    html = nora.open(address).text
    form = {"organizationId": str(brand.id), "count": "2", "why": "mended", "_page": address, "_key": "a"}
    led, again = _follow_fresh_login(nora, links, nora.send("/console/dead/replay", form))

    assert f'<input type="hidden" name="_page" value="{address}">' in html
    assert led == address
    assert 'value="mended"' in again
    assert "Replay 2 dead letters" in again
