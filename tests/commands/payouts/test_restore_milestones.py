"""Milestones that a forgotten payout has paid are not paid again when their deals reach the same state."""

from uuid import uuid4

import pytest

from tests.commands.payouts.transfer_rows import is_whole, make_row, outcomes, problems
from tests.support.job_queues import drain
from tests.support.rows.deal_scene import DealScene
from tests.support.rows.payroll import Payroll


class _PaidDeal:
    """A deal that is accepted in the restored database; its only milestone was funded and paid after the backup."""

    def __init__(self, app):
        self.dealing = DealScene.create(app)
        self.id = self.dealing.create_accepted(50_000)
        ((self.milestone_id,),) = self.dealing.brand.rows("select id::text from deal_milestone")
        self.payroll = Payroll(self.dealing.brand, {"cleo": self.dealing.affiliate_id})

    def transfer(self, **more):
        milestone = {"milestone_id": self.milestone_id, "account": "cleo@example.com"}
        return make_row(self.payroll, "cleo", amount="500.00", **(milestone | more))

    def fund_and_submit(self):
        response = self.dealing.act(self.id, "fund")
        assert response.status_code in (200, 202), response.json
        drain("payouts")
        self.dealing.submit(self.id)


@pytest.fixture
def deal(app):
    return _PaidDeal(app)


@pytest.mark.parametrize("method", ["Wallet", "Manual"])
@pytest.mark.parametrize("end", ["approve", "tick"])
def test_paid_milestone_is_not_paid_again_after_a_restore(flask, server, deal, method, end):
    server.forget_server()
    row = deal.transfer() if method == "Wallet" else deal.transfer(key="")

    result = server.reconcile(row, method=method)
    assert (result["clean"], outcomes(result)) == (True, {"Waiting": 1})
    assert [transfer["reference"] for transfer in result["waitingForMilestones"]] == [row["reference"]]
    assert "waits for its milestone" in server.flask("restore", "status")[1]
    server.release()
    deal.fund_and_submit()
    assert deal.dealing.payouts() == []
    if end == "approve":
        response = deal.dealing.approve(deal.id)
        assert response.status_code == 200, response.json
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


def test_milestone_paid_with_another_amount_waits_for_the_operator(server, deal):
    server.forget_server()
    row = deal.transfer() | {"amount": "400.00"}
    server.reconcile(row, method="Wallet")
    server.release()
    deal.fund_and_submit()

    response = deal.dealing.approve(deal.id)

    assert (response.status_code, response.json["error"]) == (409, "payouts_on_hold")
    assert row["reference"] in response.json["message"]
    assert deal.dealing.payouts() == []
    server.flask.json("restore", "accept", row["reference"], "--why", "settled with the brand")
    assert deal.dealing.approve(deal.id).status_code == 200
    assert deal.dealing.payouts() == [("Pending", 50_000)]


def test_transfer_of_an_unknown_milestone_waits_for_a_decision(server, deal):
    server.forget_server()

    result = server.reconcile(deal.transfer(milestone_id=str(uuid4())), method="Wallet", code=1)

    assert problems(result) == ["unknown_milestone"]


@pytest.mark.parametrize("affiliate", ["named", "by account"])
def test_possible_milestone_transfer_is_not_booked_as_commissions(server, deal, affiliate):
    server.forget_server()
    columns = {} if affiliate == "named" else {"affiliate_id": ""}
    row = deal.transfer(milestone_id="", **columns)

    assert problems(server.reconcile(row, method="Wallet", code=1)) == ["milestone_unclear"]

    row["milestone_id"] = deal.milestone_id
    assert outcomes(server.reconcile(row, method="Wallet")) == {"Waiting": 1}


def test_milestone_payout_of_another_amount_is_not_assigned_as_commissions(server, deal):
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
