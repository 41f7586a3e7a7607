"""A milestone approved by the brand, or submitted for seven days, is paid once from escrow on the affiliate's rail."""

from datetime import timedelta
from uuid import UUID

import pytest

from adapters import clock
from models import db
from pipelines.deals import release
from tests.support.api.concurrency import run_concurrently
from tests.support.job_queues import drain

_PAYOUTS = "/api/v1/payouts"


def test_approved_milestone_is_paid_by_an_ordinary_payout(submitted_deal):
    scene, deal_id = submitted_deal

    approved = scene.approve(deal_id).json
    drain("payouts")
    deal = scene.get_deal(deal_id)

    (milestone,) = approved["milestones"]
    (released,) = deal["milestones"]
    assert (approved["status"], milestone["status"]) == ("Funded", "Submitted")
    assert (deal["status"], deal["escrowCents"], deal["paidCents"]) == ("Completed", 0, 50_000)
    assert (released["status"], released["payoutId"]) == ("Released", milestone["payoutId"])
    payout = scene.owner.get(f"{_PAYOUTS}/{milestone['payoutId']}").json
    expected = {"status": "Paid", "amountCents": 50_000, "currency": "USD", "method": "Wallet", "lineItems": []}
    assert {name: payout[name] for name in expected} == expected
    assert (payout["affiliateId"], payout["milestoneId"]) == (str(scene.affiliate_id), milestone["id"])
    assert sorted(scene.entries()) == [("escrow_in", 50_000), ("escrow_out", -50_000)]
    assert scene.list_event_data("milestone.released") == [
        {
            "dealId": deal_id,
            "milestoneId": milestone["id"],
            "seq": 1,
            "grossCents": 50_000,
            "netCents": 50_000,
            "payoutId": milestone["payoutId"],
            "dealStatus": "Completed",
        }
    ]
    event_types = scene.brand.rows("select type from event where type like 'payout.%%' order by type")
    assert event_types == [("payout.created",), ("payout.paid",)]


def test_paying_the_last_milestone_completes_the_deal(scene):
    deal_id = scene.create_funded(30_000, 20_000)
    for seq in (2, 1):
        scene.submit(deal_id, seq)
        scene.approve(deal_id, seq)
        drain("payouts")

    assert [(data["seq"], data["dealStatus"]) for data in scene.list_event_data("milestone.released")] == [
        (2, "Funded"),
        (1, "Completed"),
    ]
    assert scene.get_deal(deal_id)["endedAt"] is not None


def test_milestone_in_another_currency_is_paid_in_usd_at_the_days_rate(scene):
    scene.rate("EUR", "0.8")
    deal_id = scene.create_funded(1_003, currency="EUR")
    scene.submit(deal_id)
    scene.approve(deal_id)
    drain("payouts")

    # 10.03 EUR are 12.5375 USD.
    assert scene.payouts() == [("Paid", 1_254)]
    assert scene.list_event_data("milestone.released")[0]["grossCents"] == 1_003
    assert scene.get_deal(deal_id)["escrowCents"] == 0


def test_deal_payouts_count_towards_partner_payouts_of_the_month(submitted_deal):
    scene, deal_id = submitted_deal
    scene.approve(deal_id)
    drain("payouts")

    state = scene.owner.get("/api/billing/state").json

    assert state["limits"]["partnerPayoutsThisMonthCents"]["current"] == 50_000


def test_concurrent_approvals_pay_once(submitted_deal):
    scene, deal_id = submitted_deal

    answers = run_concurrently(*[lambda: scene.approve(deal_id)] * 4)
    drain("payouts", deliveries=3)

    assert sorted(answer.status_code for answer in answers) == [200, 409, 409, 409]
    assert scene.payouts() == [("Paid", 50_000)]
    assert len(scene.list_event_data("milestone.released")) == 1


@pytest.mark.parametrize("rail", ["ambiguous", "slow"])
def test_milestone_is_released_once_when_the_rails_outcome_is_unknown(submitted_deal, rail):
    scene, deal_id = submitted_deal
    scene.brand.set(sandboxRail=rail)
    scene.approve(deal_id)
    drain("payouts", deliveries=2)

    for _ in range(3):
        scene.pass_retry_delay()

    assert scene.get_deal(deal_id)["status"] == "Completed"
    assert sorted(scene.entries()) == [("escrow_in", 50_000), ("escrow_out", -50_000)]
    assert len(scene.list_event_data("milestone.released")) == 1


@pytest.fixture
def failed_payout(submitted_deal):
    """A scene whose deal has its only milestone approved and its payout failed, the deal's id and the payout's."""
    scene, deal_id = submitted_deal
    scene.brand.set(sandboxRail="fail")
    payout_id = scene.approve(deal_id).json["milestones"][0]["payoutId"]
    drain("payouts")
    scene.brand.set(sandboxRail="ok")
    return scene, deal_id, payout_id


def test_failed_payout_leaves_the_amount_in_escrow(failed_payout):
    scene, deal_id, _ = failed_payout

    assert (scene.list_statuses(deal_id), scene.get_deal(deal_id)["escrowCents"]) == (["Submitted"], 50_000)
    assert scene.list_event_data("milestone.released") == []
    assert scene.approve(deal_id).status_code == 409


def test_owner_can_retry_a_failed_payout(failed_payout):
    scene, deal_id, payout_id = failed_payout

    retried = scene.owner.post(f"{_PAYOUTS}/{payout_id}/retry")
    drain("payouts")

    assert retried.status_code == 200
    assert scene.get_deal(deal_id)["status"] == "Completed"


def test_retry_does_not_count_towards_the_cap_again(failed_payout):
    scene, _, payout_id = failed_payout
    scene.execute("update deal_request set usd_cents = 100000 returning 1")
    scene.brand.set(verified="off")

    assert scene.owner.post(f"{_PAYOUTS}/{payout_id}/retry").status_code == 200


def test_approving_after_a_voided_payout_pays_again(failed_payout):
    scene, deal_id, payout_id = failed_payout

    assert scene.owner.post(f"{_PAYOUTS}/{payout_id}/void").status_code == 200
    assert scene.approve(deal_id).status_code == 200
    drain("payouts")

    assert [status for status, _ in scene.payouts()] == ["Failed", "Paid"]
    assert scene.get_deal(deal_id)["status"] == "Completed"


def test_payout_marked_as_paid_releases_the_milestone(failed_payout):
    scene, deal_id, payout_id = failed_payout

    scene.owner.post(f"{_PAYOUTS}/{payout_id}/mark-paid", {"externalTransactionId": "bank 17"})

    assert scene.get_deal(deal_id)["status"] == "Completed"


def test_review_and_hold_apply_to_deal_payouts(submitted_deal):
    scene, deal_id = submitted_deal
    scene.brand.set(needsReview="on", payoutHold="3")
    payout_id = scene.approve(deal_id).json["milestones"][0]["payoutId"]
    drain("payouts")

    payout = scene.owner.get(f"{_PAYOUTS}/{payout_id}").json
    assert (payout["needsManualReview"], payout["holdUntil"] is not None) == (True, True)
    assert scene.list_statuses(deal_id) == ["Submitted"]


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("update affiliate set status = 'Paused' returning 1", "affiliate_not_approved"),
        ("update affiliate set payout_method = null, payout_destination = null returning 1", "no_payout_account"),
        ("update organization set tax_form_required = true returning 1", "tax_form_required"),
    ],
)
def test_release_waits_while_the_affiliate_cannot_be_paid(submitted_deal, sql, code):
    scene, deal_id = submitted_deal
    scene.execute(sql)

    answer = scene.approve(deal_id)
    scene.release_at(deal_id, clock.now() - timedelta(seconds=1))
    scene.release_due()

    assert (answer.status_code, answer.json["error"]) == (409, code)
    assert (scene.payouts(), scene.list_statuses(deal_id)) == ([], ["Submitted"])


def test_ban_fails_unsent_deal_payouts(submitted_deal):
    scene, deal_id = submitted_deal
    scene.approve(deal_id)

    answer = scene.owner.post(f"/api/v1/fraud-events/ban-affiliate/{scene.affiliate_id}")
    drain("payouts")

    assert answer.status_code in (200, 204)
    assert scene.payouts() == [("Failed", 50_000)]
    assert (scene.list_statuses(deal_id), scene.get_deal(deal_id)["escrowCents"]) == (["Submitted"], 50_000)
    assert scene.approve(deal_id).json["error"] == "affiliate_not_approved"


def test_submitted_milestone_is_released_when_due(scene):
    deal_id = scene.create_funded(100, 200)
    scene.submit(deal_id, 1)
    scene.release_due()
    before = scene.list_statuses(deal_id)

    scene.release_at(deal_id, clock.now() - timedelta(seconds=1))
    scene.release_due()
    scene.release_due()

    assert before == ["Submitted", "Funded"]
    assert scene.list_statuses(deal_id) == ["Released", "Funded"]
    assert scene.payouts() == [("Paid", 100)]


def test_concurrent_ticks_and_approval_pay_once(submitted_deal):
    scene, deal_id = submitted_deal
    scene.release_at(deal_id, clock.now() - timedelta(seconds=1))
    ((milestone_id,),) = scene.brand.rows("select id from deal_milestone")

    def tick():
        with db.unit_of_work(scene.brand.id):
            return release.pay_if_due(
                organization_id=scene.brand.id, deal_id=UUID(deal_id), milestone_id=milestone_id, now=clock.now()
            )

    run_concurrently(tick, tick, lambda: scene.approve(deal_id))
    drain("payouts")

    assert scene.payouts() == [("Paid", 50_000)]


def test_concurrent_approval_and_ban_send_no_payout(submitted_deal):
    scene, deal_id = submitted_deal

    run_concurrently(
        lambda: scene.approve(deal_id),
        lambda: scene.owner.post(f"/api/v1/fraud-events/ban-affiliate/{scene.affiliate_id}"),
    )

    assert [status for status, _ in scene.payouts()] in ([], ["Failed"])
