"""A dispute freezes a milestone; an operator settles it, and every cent goes one way or the other, once."""

from datetime import timedelta

import pytest

import settings
from adapters import clock
from models import db
from pipelines.deals import release
from tests.support.api.concurrency import run_concurrently
from tests.support.job_queues import drain
from tests.support.rows.deal_scene import OWN, REASON, URL


def _milestone(dealing, deal_id, seq=1):
    return dealing.get_deal(deal_id)["milestones"][seq - 1]["id"]


def _settle(flask, dealing, deal_id, cents, seq=1):
    told = flask.json("deal", "settle", _milestone(dealing, deal_id, seq), "--to-affiliate", str(cents))
    drain("payouts")
    return told


@pytest.mark.parametrize("side", ["brand", "affiliate"])
@pytest.mark.parametrize("is_submitted", [True, False])
def test_either_side_opens_a_dispute(dealing, side, is_submitted):
    deal_id = dealing.create_funded()
    if is_submitted:
        dealing.submit(deal_id)

    answer = dealing.dispute(deal_id, who=dealing.creator if side == "affiliate" else None)

    (milestone,) = answer.json["milestones"]
    assert (answer.status_code, milestone["status"], milestone["autoReleaseAt"]) == (200, "Disputed", None)
    assert (milestone["openedBy"], milestone["disputeReason"]) == (side, REASON["reason"])
    assert dealing.list_event_data("dispute.opened") == [
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
def test_a_malformed_dispute_is_a_problem(dealing, body):
    deal_id = dealing.create_funded()

    for who in (dealing.owner, dealing.creator):
        answer = dealing.act(deal_id, "milestones/1/dispute", body, who=who)
        assert (answer.status_code, answer.mimetype) == (400, "application/problem+json")
    assert dealing.list_statuses(deal_id) == ["Funded"]


def test_while_it_is_open_nothing_moves(dealing):
    deal_id = dealing.create_funded()
    dealing.submit(deal_id)
    dealing.dispute(deal_id)

    answers = [
        dealing.approve(deal_id),
        dealing.submit(deal_id),
        dealing.act(deal_id, "milestones/1/request-changes", {"note": "x"}),
        dealing.dispute(deal_id, who=dealing.creator),
    ]
    with db.any_org_work():
        release.any_org_start(now=clock.now() + timedelta(days=30))
    drain("payouts")

    assert {(answer.status_code, answer.json["error"]) for answer in answers} == {(409, "invalid_status_transition")}
    assert (dealing.list_statuses(deal_id), dealing.get_deal(deal_id)["escrowCents"]) == (["Disputed"], 50_000)
    assert dealing.brand.rows("select count(*) from payout") == [(0,)]


def test_another_milestone_of_the_deal_goes_on(dealing):
    deal_id = dealing.create_funded(100, 200)
    dealing.dispute(deal_id, 1)
    dealing.submit(deal_id, 2)
    dealing.approve(deal_id, 2)
    drain("payouts")

    assert dealing.list_statuses(deal_id) == ["Disputed", "Released"]


@pytest.mark.parametrize(
    ("cents", "entries"),
    [
        (0, [("escrow_back", -50_000)]),
        (20_000, [("escrow_back", -30_000), ("escrow_out", -20_000)]),
        (50_000, [("escrow_out", -50_000)]),
    ],
)
def test_a_settled_dispute_is_split(dealing, flask, cents, entries):
    deal_id = dealing.create_funded()
    dealing.dispute(deal_id)

    told = _settle(flask, dealing, deal_id, cents)
    shown = dealing.get_deal(deal_id)

    assert (told["status"], told["toAffiliateCents"], told["toBrandCents"]) == ("Settled", cents, 50_000 - cents)
    assert (shown["status"], shown["escrowCents"]) == ("Completed", 0)
    assert (shown["paidCents"], shown["returnedCents"]) == (cents, 50_000 - cents)
    assert sorted(dealing.entries()) == sorted([*entries, ("escrow_in", 50_000)])
    assert [data["grossCents"] for data in dealing.list_event_data("milestone.released")] == ([cents] if cents else [])
    booked = dealing.brand.rows("select kind, amount_cents from sandbox_charge where kind = 'refund'")
    assert booked == ([("refund", 50_000 - cents)] if cents < 50_000 else [])


@pytest.mark.parametrize("cents", ["-1", "50001"])
def test_no_more_is_split_than_there_is(dealing, flask, cents):
    deal_id = dealing.create_funded()
    dealing.dispute(deal_id)

    _, said = flask("deal", "settle", _milestone(dealing, deal_id), f"--to-affiliate={cents}")

    assert "affiliate can get from 0 to" in said
    assert dealing.list_statuses(deal_id) == ["Disputed"]


def test_only_a_disputed_milestone_is_settled_and_only_once(dealing, flask):
    deal_id = dealing.create_funded()
    early = flask("deal", "settle", _milestone(dealing, deal_id), "--to-affiliate=1")
    dealing.dispute(deal_id)
    _settle(flask, dealing, deal_id, 1)
    again = flask("deal", "settle", _milestone(dealing, deal_id), "--to-affiliate=2")

    assert "has to be Disputed" in early[1]
    assert "has to be Disputed" in again[1]
    assert dealing.get_deal(deal_id)["paidCents"] == 1


def test_an_unknown_milestone_cannot_be_settled(flask):
    code, said = flask("deal", "settle", "01890000-0000-7000-8000-000000000000", "--to-affiliate=1")

    assert code == 1
    assert "There is no milestone" in said


def test_the_last_one_settled_completes_the_deal(dealing, flask):
    deal_id = dealing.create_funded(100, 200)
    dealing.dispute(deal_id, 1)
    dealing.dispute(deal_id, 2)

    _settle(flask, dealing, deal_id, 50, seq=1)
    before = dealing.get_deal(deal_id)["status"]
    _settle(flask, dealing, deal_id, 0, seq=2)

    assert (before, dealing.get_deal(deal_id)["status"]) == ("Funded", "Completed")


@pytest.mark.parametrize("rail", ["ambiguous", "slow"])
def test_a_source_that_does_not_say_gives_back_once(dealing, flask, rail):
    deal_id = dealing.create_funded()
    dealing.dispute(deal_id)
    dealing.brand.set(sandboxRail=rail)

    _settle(flask, dealing, deal_id, 10_000)
    for _ in range(3):
        dealing.pass_retry_delay()

    assert dealing.get_deal(deal_id)["status"] == "Completed"
    assert sorted(dealing.entries()) == [("escrow_back", -40_000), ("escrow_in", 50_000), ("escrow_out", -10_000)]


def test_a_refused_refund_is_asked_for_again_by_the_operator(dealing, flask):
    deal_id = dealing.create_funded()
    dealing.dispute(deal_id)
    dealing.brand.set(sandboxRail="fail")
    _settle(flask, dealing, deal_id, 0)
    refused = dealing.get_deal(deal_id)
    dealing.brand.set(sandboxRail="ok")

    flask.json("deal", "refund", _milestone(dealing, deal_id))
    drain("payouts")
    again = flask("deal", "refund", _milestone(dealing, deal_id))

    assert (refused["status"], refused["escrowCents"]) == ("Funded", 50_000)
    assert dealing.get_deal(deal_id)["status"] == "Completed"
    assert "Only a refund that the funding source refused" in again[1]


def test_a_share_waits_for_whoever_cannot_be_paid_yet(dealing, flask):
    deal_id = dealing.create_funded()
    dealing.dispute(deal_id)
    dealing.execute("update affiliate set payout_method = null, payout_destination = null returning 1")

    _settle(flask, dealing, deal_id, 30_000)
    waiting = dealing.get_deal(deal_id)
    dealing.execute("update affiliate set payout_method = 'Wallet', payout_destination = 'c@example.com' returning 1")
    with db.any_org_work():
        release.any_org_start(now=clock.now())
    drain("payouts")

    assert (waiting["status"], waiting["escrowCents"], waiting["returnedCents"]) == ("Funded", 30_000, 20_000)
    assert dealing.get_deal(deal_id)["status"] == "Completed"


def test_a_dispute_lets_go_of_a_payout_that_failed(dealing, flask):
    deal_id = dealing.create_funded()
    dealing.submit(deal_id)
    dealing.brand.set(sandboxRail="fail")
    dealing.approve(deal_id)
    on_its_way = dealing.dispute(deal_id, who=dealing.creator)
    drain("payouts")
    opened = dealing.dispute(deal_id, who=dealing.creator)
    dealing.brand.set(sandboxRail="ok")
    _settle(flask, dealing, deal_id, 50_000)

    assert (on_its_way.status_code, opened.status_code) == (409, 200)
    assert dealing.brand.rows("select status, voided_at is not null from payout order by created_at, id") == [
        ("Failed", True),
        ("Paid", False),
    ]
    assert dealing.get_deal(deal_id)["status"] == "Completed"


def test_an_approval_and_a_dispute_at_once_are_one(dealing):
    deal_id = dealing.create_funded()
    dealing.submit(deal_id)

    answers = run_concurrently(
        lambda: dealing.approve(deal_id),
        lambda: dealing.dispute(deal_id),
        lambda: dealing.dispute(deal_id, who=dealing.creator),
    )
    drain("payouts")

    assert sorted(answer.status_code for answer in answers) == [200, 409, 409]
    assert dealing.list_statuses(deal_id) in (["Released"], ["Disputed"])


def test_the_take_stays_when_all_goes_back(dealing, flask, monkeypatch):
    monkeypatch.setenv("DEAL_TAKE_BPS", "1000")
    settings.current.cache_clear()
    deal_id = dealing.create_funded()
    monkeypatch.undo()
    settings.current.cache_clear()
    dealing.dispute(deal_id)
    _settle(flask, dealing, deal_id, 0)

    shown = dealing.get_deal(deal_id)
    assert (shown["chargedCents"], shown["takeCents"], shown["returnedCents"], shown["escrowCents"]) == (
        55_000,
        5_000,
        50_000,
        0,
    )


def test_who_was_deleted_keeps_their_deals_and_their_say(dealing):
    deal_id = dealing.create_funded()
    dealing.execute("update affiliate set deleted_at = now() returning 1")

    assert dealing.creator.get(f"{OWN}/{deal_id}").status_code == 200
    assert dealing.dispute(deal_id, who=dealing.creator).status_code == 200


def test_another_brand_opens_no_dispute(dealing, rival):
    answer = rival.post(f"{URL}/{dealing.create_funded()}/milestones/1/dispute", REASON)

    assert (answer.status_code, answer.json["error"]) == (404, "not_found")
