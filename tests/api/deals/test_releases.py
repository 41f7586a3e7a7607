"""A milestone that is approved, or lay for seven days, is paid on its affiliate's rail and leaves the escrow, once."""

from datetime import timedelta
from uuid import UUID

import pytest

from adapters import clock
from models import db
from pipelines.deals import release
from tests.support.api.concurrency import run_concurrently
from tests.support.job_queues import drain

_PAYOUTS = "/api/v1/payouts"


def test_what_is_approved_is_paid_on_the_ordinary_rail(submitted):
    dealing, deal_id = submitted

    approved = dealing.approve(deal_id).json
    drain("payouts")
    shown = dealing.get_deal(deal_id)

    (milestone,) = approved["milestones"]
    (released,) = shown["milestones"]
    assert (approved["status"], milestone["status"]) == ("Funded", "Submitted")
    assert (shown["status"], shown["escrowCents"], shown["paidCents"]) == ("Completed", 0, 50_000)
    assert (released["status"], released["payoutId"]) == ("Released", milestone["payoutId"])
    payout = dealing.owner.get(f"{_PAYOUTS}/{milestone['payoutId']}").json
    wanted = {"status": "Paid", "amountCents": 50_000, "currency": "USD", "method": "Wallet", "lineItems": []}
    assert {name: payout[name] for name in wanted} == wanted
    assert (payout["affiliateId"], payout["milestoneId"]) == (str(dealing.affiliate_id), milestone["id"])
    assert sorted(dealing.entries()) == [("escrow_in", 50_000), ("escrow_out", -50_000)]
    assert dealing.list_event_data("milestone.released") == [
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
    kinds = dealing.brand.rows("select type from event where type like 'payout.%%' order by type")
    assert kinds == [("payout.created",), ("payout.paid",)]


def test_the_last_milestone_completes_the_deal(dealing):
    deal_id = dealing.create_funded(30_000, 20_000)
    for seq in (2, 1):
        dealing.submit(deal_id, seq)
        dealing.approve(deal_id, seq)
        drain("payouts")

    assert [(data["seq"], data["dealStatus"]) for data in dealing.list_event_data("milestone.released")] == [
        (2, "Funded"),
        (1, "Completed"),
    ]
    assert dealing.get_deal(deal_id)["endedAt"] is not None


def test_another_currency_is_paid_in_usd_at_the_days_rate(dealing):
    dealing.rate("EUR", "0.8")
    deal_id = dealing.create_funded(1_003, currency="EUR")
    dealing.submit(deal_id)
    dealing.approve(deal_id)
    drain("payouts")

    # 10.03 EUR are 12.5375 USD.
    assert dealing.payouts() == [("Paid", 1_254)]
    assert dealing.list_event_data("milestone.released")[0]["grossCents"] == 1_003
    assert dealing.get_deal(deal_id)["escrowCents"] == 0


def test_what_deals_paid_counts_as_paid_to_partners(submitted):
    dealing, deal_id = submitted
    dealing.approve(deal_id)
    drain("payouts")

    state = dealing.owner.get("/api/billing/state").json

    assert state["limits"]["partnerPayoutsThisMonthCents"]["current"] == 50_000


def test_approving_at_once_pays_once(submitted):
    dealing, deal_id = submitted

    answers = run_concurrently(*[lambda: dealing.approve(deal_id)] * 4)
    drain("payouts", deliveries=3)

    assert sorted(answer.status_code for answer in answers) == [200, 409, 409, 409]
    assert dealing.payouts() == [("Paid", 50_000)]
    assert len(dealing.list_event_data("milestone.released")) == 1


@pytest.mark.parametrize("rail", ["ambiguous", "slow"])
def test_a_rail_that_does_not_say_releases_once(submitted, rail):
    dealing, deal_id = submitted
    dealing.brand.set(sandboxRail=rail)
    dealing.approve(deal_id)
    drain("payouts", deliveries=2)

    for _ in range(3):
        dealing.pass_retry_delay()

    assert dealing.get_deal(deal_id)["status"] == "Completed"
    assert sorted(dealing.entries()) == [("escrow_in", 50_000), ("escrow_out", -50_000)]
    assert len(dealing.list_event_data("milestone.released")) == 1


@pytest.fixture
def failed(submitted):
    """A brand whose deal's one milestone was approved and whose payout failed, the deal's id and the payout's."""
    dealing, deal_id = submitted
    dealing.brand.set(sandboxRail="fail")
    payout_id = dealing.approve(deal_id).json["milestones"][0]["payoutId"]
    drain("payouts")
    dealing.brand.set(sandboxRail="ok")
    return dealing, deal_id, payout_id


def test_a_payout_that_failed_leaves_everything_in_escrow(failed):
    dealing, deal_id, _ = failed

    assert (dealing.list_statuses(deal_id), dealing.get_deal(deal_id)["escrowCents"]) == (["Submitted"], 50_000)
    assert dealing.list_event_data("milestone.released") == []
    assert dealing.approve(deal_id).status_code == 409


def test_a_payout_that_failed_is_retried_by_its_owner(failed):
    dealing, deal_id, payout_id = failed

    retried = dealing.owner.post(f"{_PAYOUTS}/{payout_id}/retry")
    drain("payouts")

    assert retried.status_code == 200
    assert dealing.get_deal(deal_id)["status"] == "Completed"


def test_a_retry_is_not_counted_against_the_cap_again(failed):
    dealing, _, payout_id = failed
    dealing.execute("update deal_request set usd_cents = 100000 returning 1")
    dealing.brand.set(verified="off")

    assert dealing.owner.post(f"{_PAYOUTS}/{payout_id}/retry").status_code == 200


def test_a_payout_that_was_let_go_of_is_made_anew(failed):
    dealing, deal_id, payout_id = failed

    assert dealing.owner.post(f"{_PAYOUTS}/{payout_id}/void").status_code == 200
    assert dealing.approve(deal_id).status_code == 200
    drain("payouts")

    assert [status for status, _ in dealing.payouts()] == ["Failed", "Paid"]
    assert dealing.get_deal(deal_id)["status"] == "Completed"


def test_a_payout_that_the_brand_paid_by_hand_releases(failed):
    dealing, deal_id, payout_id = failed

    dealing.owner.post(f"{_PAYOUTS}/{payout_id}/mark-paid", {"externalTransactionId": "bank 17"})

    assert dealing.get_deal(deal_id)["status"] == "Completed"


def test_a_review_and_a_hold_hold_for_deals_too(submitted):
    dealing, deal_id = submitted
    dealing.brand.set(needsReview="on", payoutHold="3")
    payout_id = dealing.approve(deal_id).json["milestones"][0]["payoutId"]
    drain("payouts")

    payout = dealing.owner.get(f"{_PAYOUTS}/{payout_id}").json
    assert (payout["needsManualReview"], payout["holdUntil"] is not None) == (True, True)
    assert dealing.list_statuses(deal_id) == ["Submitted"]


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("update affiliate set status = 'Paused' returning 1", "affiliate_not_approved"),
        ("update affiliate set payout_method = null, payout_destination = null returning 1", "no_payout_account"),
        ("update organization set tax_form_required = true returning 1", "tax_form_required"),
    ],
)
def test_who_cannot_be_paid_waits(submitted, sql, code):
    dealing, deal_id = submitted
    dealing.execute(sql)

    answer = dealing.approve(deal_id)
    dealing.release_at(deal_id, clock.now() - timedelta(seconds=1))
    dealing.release_due()

    assert (answer.status_code, answer.json["error"]) == (409, code)
    assert (dealing.payouts(), dealing.list_statuses(deal_id)) == ([], ["Submitted"])


def test_a_ban_lets_go_of_what_was_not_sent(submitted):
    dealing, deal_id = submitted
    dealing.approve(deal_id)

    answer = dealing.owner.post(f"/api/v1/fraud-events/ban-affiliate/{dealing.affiliate_id}")
    drain("payouts")

    assert answer.status_code in (200, 204)
    assert dealing.payouts() == [("Failed", 50_000)]
    assert (dealing.list_statuses(deal_id), dealing.get_deal(deal_id)["escrowCents"]) == (["Submitted"], 50_000)
    assert dealing.approve(deal_id).json["error"] == "affiliate_not_approved"


def test_what_nobody_decides_is_released_by_itself(dealing):
    deal_id = dealing.create_funded(100, 200)
    dealing.submit(deal_id, 1)
    dealing.release_due()
    before = dealing.list_statuses(deal_id)

    dealing.release_at(deal_id, clock.now() - timedelta(seconds=1))
    dealing.release_due()
    dealing.release_due()

    assert before == ["Submitted", "Funded"]
    assert dealing.list_statuses(deal_id) == ["Released", "Funded"]
    assert dealing.payouts() == [("Paid", 100)]


def test_ticks_and_an_approval_at_once_pay_once(submitted):
    dealing, deal_id = submitted
    dealing.release_at(deal_id, clock.now() - timedelta(seconds=1))
    ((milestone_id,),) = dealing.brand.rows("select id from deal_milestone")

    def tick():
        with db.unit_of_work(dealing.brand.id):
            return release.pay_if_due(
                organization_id=dealing.brand.id, deal_id=UUID(deal_id), milestone_id=milestone_id, now=clock.now()
            )

    run_concurrently(tick, tick, lambda: dealing.approve(deal_id))
    drain("payouts")

    assert dealing.payouts() == [("Paid", 50_000)]


def test_a_release_and_a_ban_at_once_pay_nobody_who_is_banned(submitted):
    dealing, deal_id = submitted

    run_concurrently(
        lambda: dealing.approve(deal_id),
        lambda: dealing.owner.post(f"/api/v1/fraud-events/ban-affiliate/{dealing.affiliate_id}"),
    )

    assert [status for status, _ in dealing.payouts()] in ([], ["Failed"])
