"""Milestones that a forgotten payout has paid: never paid again, whenever their deals are as far as they were."""

from uuid import uuid4

import pytest

from tests.commands.payouts.transfer_rows import is_whole, make_row, outcomes, problems
from tests.support.job_queues import drain
from tests.support.rows.deal_scene import DealScene
from tests.support.rows.payroll import Payroll


class _PaidDeal:
    """A deal that the books have as accepted, and whose only milestone was funded and paid after that."""

    def __init__(self, app):
        self.dealing = DealScene.create(app)
        self.id = self.dealing.create_accepted(50_000)
        ((self.milestone_id,),) = self.dealing.brand.rows("select id::text from deal_milestone")
        self.payroll = Payroll(self.dealing.brand, {"cleo": self.dealing.affiliate_id})

    def transfer(self, **more):
        milestone = {"milestone_id": self.milestone_id, "account": "cleo@example.com"}
        return make_row(self.payroll, "cleo", amount="500.00", **(milestone | more))

    def fund_and_submit(self):
        answer = self.dealing.act(self.id, "fund")
        assert answer.status_code in (200, 202), answer.json
        drain("payouts")
        self.dealing.submit(self.id)


@pytest.fixture
def deal(app):
    return _PaidDeal(app)


@pytest.mark.parametrize("method", ["Wallet", "Manual"])
@pytest.mark.parametrize("end", ["approve", "tick"])
def test_milestone_that_was_paid_before_is_not_paid_again_when_its_deal_is_as_far(flask, server, deal, method, end):
    server.forget_server()
    row = deal.transfer() if method == "Wallet" else deal.transfer(key="")

    result = server.reconcile(row, method=method)
    assert (result["clean"], outcomes(result)) == (True, {"Waiting": 1})
    assert [one["reference"] for one in result["waitingForMilestones"]] == [row["reference"]]
    assert "waits for its milestone" in server.flask("restore", "status")[1]
    server.release()
    deal.fund_and_submit()
    assert deal.dealing.payouts() == []
    if end == "approve":
        answer = deal.dealing.approve(deal.id)
        assert answer.status_code == 200, answer.json
    else:
        deal.payroll.execute(
            "update deal_milestone set auto_release_at = now() where organization_id = %s", deal.payroll.brand.id
        )
        deal.dealing.release_due()
    drain("payouts")

    assert deal.dealing.payouts() == [("Paid", 50_000)]
    assert deal.payroll.payouts("method") == [(method,)]
    assert deal.dealing.get_deal(deal.id)["status"] == "Completed"
    assert outcomes(server.reconcile(row, method=method)) == {"Known": 1}
    assert is_whole(flask, deal.payroll)


def test_milestone_that_was_paid_with_another_amount_waits_for_the_operator(server, deal):
    server.forget_server()
    row = deal.transfer() | {"amount": "400.00"}
    server.reconcile(row, method="Wallet")
    server.release()
    deal.fund_and_submit()

    answer = deal.dealing.approve(deal.id)

    assert (answer.status_code, answer.json["error"]) == (409, "payouts_on_hold")
    assert row["reference"] in answer.json["message"]
    assert deal.dealing.payouts() == []
    server.flask.json("restore", "accept", row["reference"], "--why", "settled with the brand")
    assert deal.dealing.approve(deal.id).status_code == 200
    assert deal.dealing.payouts() == [("Pending", 50_000)]


def test_transfer_of_a_milestone_that_is_not_here_waits_for_a_decision(server, deal):
    server.forget_server()

    result = server.reconcile(deal.transfer(milestone_id=str(uuid4())), method="Wallet", code=1)

    assert problems(result) == ["unknown_milestone"]


@pytest.mark.parametrize("affiliate", ["named", "by account"])
def test_transfer_that_may_have_paid_a_milestone_is_not_booked_as_commissions(server, deal, affiliate):
    server.forget_server()
    named = {} if affiliate == "named" else {"affiliate_id": ""}
    row = deal.transfer(milestone_id="", **named)

    assert problems(server.reconcile(row, method="Wallet", code=1)) == ["milestone_unclear"]

    row["milestone_id"] = deal.milestone_id
    assert outcomes(server.reconcile(row, method="Wallet")) == {"Waiting": 1}


def test_payout_of_a_milestone_of_another_amount_is_not_assigned_as_commissions(server, deal):
    deal.fund_and_submit()
    assert deal.dealing.approve(deal.id).status_code == 200
    ((payout_id,),) = deal.payroll.payouts("id")
    server.forget_server()
    row = deal.transfer(key=f"payout:{payout_id}:1") | {"amount": "400.00"}
    server.reconcile(row, method="Wallet", code=1)

    words = ("restore", "assign", row["reference"], "--affiliate", deal.dealing.affiliate_id, "--why", "x")
    code, message = server.flask(*words)

    assert (code, "pays a milestone" in message) == (1, True)
    assert deal.dealing.payouts() == [("Pending", 50_000)]
