"""`flask payout settle`: an operator records the outcome of a payout that its rail never reported."""

from uuid import uuid4

import pytest

from tests.support.rows.payroll import Payroll


@pytest.fixture
def payroll(app):
    """Return a brand that owes ann 20.00 USD and whose rail accepts payments without ever reporting an outcome."""
    payroll = Payroll.create(app)
    payroll.affiliate("ann")
    payroll.sell("ann")
    payroll.brand.set(sandboxRail="slow")
    return payroll


@pytest.fixture
def stuck_payout_id(payroll):
    """Return the id of a payout whose rail never reports an outcome."""
    payroll.run()
    payroll.pay()
    (processing_id,) = [payout_id for payout_id, status in payroll.payouts("id, status") if status == "Processing"]
    return str(processing_id)


def test_payout_settled_as_paid_is_booked(payroll, stuck_payout_id, flask):
    code, output = flask("payout", "settle", stuck_payout_id, "--paid", "tr_123")

    assert (code, output) == (0, f"{stuck_payout_id} is Paid.\n")
    assert payroll.payouts("status, processor_transfer_id is not null")[-1] == ("Paid", True)
    assert payroll.balance("ann") == {"USD": 0}
    entries = payroll.brand.rows("select entity_id, after from audit_entry where action = 'payout.settled'")
    assert entries == [
        (stuck_payout_id, {"status": "Paid", "reference": "tr_123", "why": None, "key": f"payout:{stuck_payout_id}:1"})
    ]
    assert flask("ledger", "check", "--org", str(payroll.brand.id))[0] == 0


def test_payout_settled_as_failed_is_owed_again(payroll, stuck_payout_id, flask):
    settled = flask.json("payout", "settle", stuck_payout_id, "--failed", "not in their books")

    assert settled["status"] == "Failed"
    assert payroll.payouts("status, failure_code, failure_reason")[-1] == (
        "Failed",
        "settled_by_operator",
        "not in their books",
    )
    assert payroll.balance("ann") == {"USD": 2_000}
    assert flask("ledger", "check", "--org", str(payroll.brand.id))[0] == 0


def test_job_does_not_change_a_settled_payout(payroll, stuck_payout_id, flask):
    flask("payout", "settle", stuck_payout_id, "--failed", "not in their books")
    payroll.execute("update job set run_at = now() where queue = 'payouts'")

    payroll.pay()

    assert payroll.payouts("status")[-1] == ("Failed",)
    assert payroll.brand.rows("select count(*) from job where queue = 'payouts'") == [(0,)]


def test_settled_payout_cannot_be_settled_again(payroll, stuck_payout_id, flask):
    flask("payout", "settle", stuck_payout_id, "--paid", "tr_123")

    code, output = flask("payout", "settle", stuck_payout_id, "--failed", "changed my mind")

    assert code == 1
    assert "The payout is Paid" in output


@pytest.mark.parametrize("options", [[], ["--paid", "a", "--failed", "b"], ["--paid", ""]])
def test_settle_requires_exactly_one_outcome(flask, options):
    code, output = flask("payout", "settle", str(uuid4()), *options)

    assert code == 2
    assert "either --paid REFERENCE or --failed WHY" in output


def test_unknown_payout_is_reported(flask):
    code, output = flask("payout", "settle", str(uuid4()), "--paid", "tr_1")

    assert code == 1
    assert "payout" in output
