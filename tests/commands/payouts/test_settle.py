"""`flask payout settle`: an operator says what became of a payout whose rail does not."""

from uuid import uuid4

import pytest

from tests.support.rows.payroll import Payroll


@pytest.fixture
def payroll(app):
    """A brand that owes ann 20.00 USD, and whose rail takes payments and says no more."""
    found = Payroll.create(app)
    found.affiliate("ann")
    found.sell("ann")
    found.brand.set(sandboxRail="slow")
    return found


@pytest.fixture
def stuck(payroll):
    """A payout whose rail never says what became of it; returns its id."""
    payroll.run()
    payroll.pay()
    (found,) = [payout_id for payout_id, status in payroll.payouts("id, status") if status == "Processing"]
    return str(found)


def test_an_operator_settles_a_payout_that_the_rail_paid(payroll, stuck, flask):
    code, said = flask("payout", "settle", stuck, "--paid", "tr_123")

    assert (code, said) == (0, f"{stuck} is Paid.\n")
    assert payroll.payouts("status, processor_transfer_id is not null")[-1] == ("Paid", True)
    assert payroll.balance("ann") == {"USD": 0}
    after = payroll.brand.rows("select entity_id, after from audit_entry where action = 'payout.settled'")
    assert after == [(stuck, {"status": "Paid", "reference": "tr_123", "why": None, "key": f"payout:{stuck}:1"})]
    assert flask("ledger", "check", "--org", str(payroll.brand.id))[0] == 0


def test_an_operator_settles_a_payout_that_the_rail_did_not_pay(payroll, stuck, flask):
    settled = flask.json("payout", "settle", stuck, "--failed", "not in their books")

    assert settled["status"] == "Failed"
    assert payroll.payouts("status, failure_code, failure_reason")[-1] == (
        "Failed",
        "settled_by_operator",
        "not in their books",
    )
    assert payroll.balance("ann") == {"USD": 2_000}
    assert flask("ledger", "check", "--org", str(payroll.brand.id))[0] == 0


def test_a_settled_payout_is_left_alone_by_its_job(payroll, stuck, flask):
    flask("payout", "settle", stuck, "--failed", "not in their books")
    payroll.execute("update job set run_at = now() where queue = 'payouts'")

    payroll.pay()

    assert payroll.payouts("status")[-1] == ("Failed",)
    assert payroll.brand.rows("select count(*) from job where queue = 'payouts'") == [(0,)]


def test_what_is_not_processing_is_not_settled_by_hand(payroll, stuck, flask):
    flask("payout", "settle", stuck, "--paid", "tr_123")

    code, said = flask("payout", "settle", stuck, "--failed", "changed my mind")

    assert code == 1
    assert "The payout is Paid" in said


@pytest.mark.parametrize("options", [[], ["--paid", "a", "--failed", "b"], ["--paid", ""]])
def test_settling_takes_one_word_about_it(flask, options):
    code, said = flask("payout", "settle", str(uuid4()), *options)

    assert code == 2
    assert "either --paid REFERENCE or --failed WHY" in said


def test_a_payout_that_is_not_there_is_said(flask):
    code, said = flask("payout", "settle", str(uuid4()), "--paid", "tr_1")

    assert code == 1
    assert "payout" in said
