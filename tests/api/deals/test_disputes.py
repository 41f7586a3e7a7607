"""A dispute freezes a milestone; an operator splits its amount between affiliate and brand, once."""

from datetime import timedelta

import pytest

import settings
from adapters import clock
from models import db
from pipelines.deals import release
from tests.support.api.concurrency import run_concurrently
from tests.support.job_queues import drain
from tests.support.rows.deal_scene import OWN, REASON, URL


def _get_milestone_id(scene, deal_id, seq=1):
    return scene.get_deal(deal_id)["milestones"][seq - 1]["id"]


def _settle(flask, scene, deal_id, cents, seq=1):
    result = flask.json("deal", "settle", _get_milestone_id(scene, deal_id, seq), "--to-affiliate", str(cents))
    drain("payouts")
    return result


@pytest.mark.parametrize("side", ["brand", "affiliate"])
@pytest.mark.parametrize("is_submitted", [True, False])
def test_brand_and_affiliate_can_open_a_dispute(scene, side, is_submitted):
    deal_id = scene.create_funded()
    if is_submitted:
        scene.submit(deal_id)

    answer = scene.dispute(deal_id, who=scene.creator if side == "affiliate" else None)

    (milestone,) = answer.json["milestones"]
    assert (answer.status_code, milestone["status"], milestone["autoReleaseAt"]) == (200, "Disputed", None)
    assert (milestone["openedBy"], milestone["disputeReason"]) == (side, REASON["reason"])
    assert scene.list_event_data("dispute.opened") == [
        {"dealId": deal_id, "milestoneId": milestone["id"], "seq": 1, "openedBy": side, **REASON}
    ]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"reason": "r"},
        {"proposedResolution": "p"},
        REASON | {"reason": ""},
        REASON | {"reason": 7},
        REASON | {"reason": "a\x00"},
        REASON | {"proposedResolution": " "},
        REASON | {"proposedResolution": "x" * 5_001},
    ],
)
def test_malformed_dispute_returns_400(scene, body):
    deal_id = scene.create_funded()

    for who in (scene.owner, scene.creator):
        answer = scene.act(deal_id, "milestones/1/dispute", body, who=who)
        assert (answer.status_code, answer.mimetype) == (400, "application/problem+json")
    assert scene.list_statuses(deal_id) == ["Funded"]


def test_open_dispute_blocks_every_other_action(scene):
    deal_id = scene.create_funded()
    scene.submit(deal_id)
    scene.dispute(deal_id)

    answers = [
        scene.approve(deal_id),
        scene.submit(deal_id),
        scene.act(deal_id, "milestones/1/request-changes", {"note": "x"}),
        scene.dispute(deal_id, who=scene.creator),
    ]
    with db.any_org_work():
        release.any_org_start(now=clock.now() + timedelta(days=30))
    drain("payouts")

    assert {(answer.status_code, answer.json["error"]) for answer in answers} == {(409, "invalid_status_transition")}
    assert (scene.list_statuses(deal_id), scene.get_deal(deal_id)["escrowCents"]) == (["Disputed"], 50_000)
    assert scene.brand.rows("select count(*) from payout") == [(0,)]


def test_dispute_does_not_block_other_milestones(scene):
    deal_id = scene.create_funded(100, 200)
    scene.dispute(deal_id, 1)
    scene.submit(deal_id, 2)
    scene.approve(deal_id, 2)
    drain("payouts")

    assert scene.list_statuses(deal_id) == ["Disputed", "Released"]


@pytest.mark.parametrize(
    ("cents", "entries"),
    [
        (0, [("escrow_back", -50_000)]),
        (20_000, [("escrow_back", -30_000), ("escrow_out", -20_000)]),
        (50_000, [("escrow_out", -50_000)]),
    ],
)
def test_settling_a_dispute_splits_the_escrow(scene, flask, cents, entries):
    deal_id = scene.create_funded()
    scene.dispute(deal_id)

    result = _settle(flask, scene, deal_id, cents)
    deal = scene.get_deal(deal_id)

    assert (result["status"], result["toAffiliateCents"], result["toBrandCents"]) == ("Settled", cents, 50_000 - cents)
    assert (deal["status"], deal["escrowCents"]) == ("Completed", 0)
    assert (deal["paidCents"], deal["returnedCents"]) == (cents, 50_000 - cents)
    assert sorted(scene.entries()) == sorted([*entries, ("escrow_in", 50_000)])
    assert [data["grossCents"] for data in scene.list_event_data("milestone.released")] == ([cents] if cents else [])
    refunds = scene.brand.rows("select kind, amount_cents from sandbox_charge where kind = 'refund'")
    assert refunds == ([("refund", 50_000 - cents)] if cents < 50_000 else [])


@pytest.mark.parametrize("cents", ["-1", "50001"])
def test_settling_outside_the_milestones_amount_is_refused(scene, flask, cents):
    deal_id = scene.create_funded()
    scene.dispute(deal_id)

    _, output = flask("deal", "settle", _get_milestone_id(scene, deal_id), f"--to-affiliate={cents}")

    assert "affiliate can get from 0 to" in output
    assert scene.list_statuses(deal_id) == ["Disputed"]


def test_milestone_is_settled_once_and_only_in_dispute(scene, flask):
    deal_id = scene.create_funded()
    early = flask("deal", "settle", _get_milestone_id(scene, deal_id), "--to-affiliate=1")
    scene.dispute(deal_id)
    _settle(flask, scene, deal_id, 1)
    again = flask("deal", "settle", _get_milestone_id(scene, deal_id), "--to-affiliate=2")

    assert "has to be Disputed" in early[1]
    assert "has to be Disputed" in again[1]
    assert scene.get_deal(deal_id)["paidCents"] == 1


def test_settling_an_unknown_milestone_fails(flask):
    code, output = flask("deal", "settle", "01890000-0000-7000-8000-000000000000", "--to-affiliate=1")

    assert code == 1
    assert "There is no milestone" in output


def test_settling_the_last_milestone_completes_the_deal(scene, flask):
    deal_id = scene.create_funded(100, 200)
    scene.dispute(deal_id, 1)
    scene.dispute(deal_id, 2)

    _settle(flask, scene, deal_id, 50, seq=1)
    before = scene.get_deal(deal_id)["status"]
    _settle(flask, scene, deal_id, 0, seq=2)

    assert (before, scene.get_deal(deal_id)["status"]) == ("Funded", "Completed")


@pytest.mark.parametrize("rail", ["ambiguous", "slow"])
def test_refund_is_made_once_when_its_outcome_is_unknown(scene, flask, rail):
    deal_id = scene.create_funded()
    scene.dispute(deal_id)
    scene.brand.set(sandboxRail=rail)

    _settle(flask, scene, deal_id, 10_000)
    for _ in range(3):
        scene.pass_retry_delay()

    assert scene.get_deal(deal_id)["status"] == "Completed"
    assert sorted(scene.entries()) == [("escrow_back", -40_000), ("escrow_in", 50_000), ("escrow_out", -10_000)]


def test_operator_can_retry_a_refused_refund(scene, flask):
    deal_id = scene.create_funded()
    scene.dispute(deal_id)
    scene.brand.set(sandboxRail="fail")
    _settle(flask, scene, deal_id, 0)
    refused = scene.get_deal(deal_id)
    scene.brand.set(sandboxRail="ok")

    flask.json("deal", "refund", _get_milestone_id(scene, deal_id))
    drain("payouts")
    again = flask("deal", "refund", _get_milestone_id(scene, deal_id))

    assert (refused["status"], refused["escrowCents"]) == ("Funded", 50_000)
    assert scene.get_deal(deal_id)["status"] == "Completed"
    assert "Only a refund that the funding source refused" in again[1]


def test_share_waits_until_the_affiliate_can_be_paid(scene, flask):
    deal_id = scene.create_funded()
    scene.dispute(deal_id)
    scene.execute("update affiliate set payout_method = null, payout_destination = null returning 1")

    _settle(flask, scene, deal_id, 30_000)
    waiting_deal = scene.get_deal(deal_id)
    scene.execute("update affiliate set payout_method = 'Wallet', payout_destination = 'c@example.com' returning 1")
    with db.any_org_work():
        release.any_org_start(now=clock.now())
    drain("payouts")

    assert (waiting_deal["status"], waiting_deal["escrowCents"], waiting_deal["returnedCents"]) == (
        "Funded",
        30_000,
        20_000,
    )
    assert scene.get_deal(deal_id)["status"] == "Completed"


def test_dispute_voids_a_failed_payout(scene, flask):
    deal_id = scene.create_funded()
    scene.submit(deal_id)
    scene.brand.set(sandboxRail="fail")
    scene.approve(deal_id)
    while_pending = scene.dispute(deal_id, who=scene.creator)
    drain("payouts")
    after_failure = scene.dispute(deal_id, who=scene.creator)
    scene.brand.set(sandboxRail="ok")
    _settle(flask, scene, deal_id, 50_000)

    assert (while_pending.status_code, after_failure.status_code) == (409, 200)
    assert scene.brand.rows("select status, voided_at is not null from payout order by created_at, id") == [
        ("Failed", True),
        ("Paid", False),
    ]
    assert scene.get_deal(deal_id)["status"] == "Completed"


def test_concurrent_approval_and_disputes_succeed_once(scene):
    deal_id = scene.create_funded()
    scene.submit(deal_id)

    answers = run_concurrently(
        lambda: scene.approve(deal_id),
        lambda: scene.dispute(deal_id),
        lambda: scene.dispute(deal_id, who=scene.creator),
    )
    drain("payouts")

    assert sorted(answer.status_code for answer in answers) == [200, 409, 409]
    assert scene.list_statuses(deal_id) in (["Released"], ["Disputed"])


def test_take_is_kept_when_the_whole_amount_is_refunded(scene, flask, monkeypatch):
    monkeypatch.setenv("DEAL_TAKE_BPS", "1000")
    settings.current.cache_clear()
    deal_id = scene.create_funded()
    monkeypatch.undo()
    settings.current.cache_clear()
    scene.dispute(deal_id)
    _settle(flask, scene, deal_id, 0)

    deal = scene.get_deal(deal_id)
    assert (deal["chargedCents"], deal["takeCents"], deal["returnedCents"], deal["escrowCents"]) == (
        55_000,
        5_000,
        50_000,
        0,
    )


def test_deleted_affiliate_can_still_read_and_dispute_deals(scene):
    deal_id = scene.create_funded()
    scene.execute("update affiliate set deleted_at = now() returning 1")

    assert scene.creator.get(f"{OWN}/{deal_id}").status_code == 200
    assert scene.dispute(deal_id, who=scene.creator).status_code == 200


def test_dispute_by_another_brand_returns_404(scene, rival):
    answer = rival.post(f"{URL}/{scene.create_funded()}/milestones/1/dispute", REASON)

    assert (answer.status_code, answer.json["error"]) == (404, "not_found")
