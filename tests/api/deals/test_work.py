"""Work on milestones: submitted by their affiliate, sent back by the brand, each in its turn."""

from datetime import timedelta
from uuid import uuid4

import pytest

from adapters import clock
from models import advisory_locks, db
from tests.support.api.concurrency import start_call
from tests.support.api.payouts import UNKNOWN_ID
from tests.support.job_queues import drain
from tests.support.rows.brands import Partner
from tests.support.rows.deal_scene import OWN, URL, URLS


def test_a_milestone_is_submitted(dealing):
    deal_id = dealing.create_funded()

    answer = dealing.submit(deal_id, urls=[*URLS, "http://files.example.com/a?b=c#d"])
    (milestone,) = answer.json["milestones"]

    assert (answer.status_code, milestone["status"]) == (200, "Submitted")
    assert milestone["submissionUrls"] == [*URLS, "http://files.example.com/a?b=c#d"]
    (told,) = dealing.list_event_data("milestone.submitted")
    assert told == {
        "dealId": deal_id,
        "milestoneId": milestone["id"],
        "seq": 1,
        "submissionUrls": milestone["submissionUrls"],
        "autoReleaseAt": milestone["autoReleaseAt"],
    }
    ((at,),) = dealing.brand.rows("select auto_release_at from deal_milestone")
    assert abs(at - clock.now() - timedelta(days=7)) < timedelta(minutes=5)


@pytest.mark.parametrize(
    "urls",
    [
        ...,
        None,
        [],
        "https://a.example",
        {},
        [7],
        [None],
        [""],
        ["nope"],
        ["ftp://a.example"],
        ["javascript:alert(1)"],
        ["https://"],
        ["https://a.example/\x00"],
        ["https://a.example/ b"],
        ["https://a.example/" + "x" * 2_048],
        ["https://a.example"] * 21,
    ],
)
def test_a_malformed_submission_is_a_problem_and_changes_nothing(dealing, urls):
    deal_id = dealing.create_funded()
    body = {} if urls is ... else {"urls": urls}

    answer = dealing.act(deal_id, "milestones/1/submit", body, who=dealing.creator)

    assert (answer.status_code, answer.mimetype) == (400, "application/problem+json")
    assert dealing.list_statuses(deal_id) == ["Funded"]


@pytest.mark.parametrize("seq", ["2", "0", "-1", "01", "1.0", "nope", "9" * 30, "%00"])
def test_a_milestone_that_is_not_there_is_404(submitted, seq):
    dealing, deal_id = submitted

    for who, verb in ((dealing.creator, "submit"), (dealing.owner, "approve"), (dealing.creator, "dispute")):
        body = {"urls": URLS, "reason": "r", "proposedResolution": "p"}
        assert dealing.act(deal_id, f"milestones/{seq}/{verb}", body, who=who).status_code == 404


def test_nobody_else_works_on_a_milestone(submitted, rival, app):
    dealing, deal_id = submitted
    stranger = Partner(app, f"eve-{uuid4().hex}@example.com")

    assert stranger.post(f"{OWN}/{deal_id}/milestones/1/submit", {"urls": URLS}).status_code == 404
    for verb, body in (("approve", None), ("request-changes", {"note": "x"})):
        answer = rival.post(f"{URL}/{deal_id}/milestones/1/{verb}", body)
        assert (answer.status_code, answer.json["error"]) == (404, "not_found")
    assert dealing.list_statuses(deal_id) == ["Submitted"]
    assert dealing.brand.person("Viewer").post(f"{URL}/{deal_id}/milestones/1/approve").status_code == 403


def test_a_payout_run_at_work_keeps_nobody_from_their_work(dealing):
    deal_id = dealing.create_funded()

    with db.unit_of_work(dealing.brand.id):
        advisory_locks.take_payout_run_lock(dealing.brand.id)
        submitted = start_call(lambda: dealing.submit(deal_id))()
        approved = start_call(lambda: dealing.approve(deal_id))()

    assert (submitted.status_code, approved.status_code) == (200, 200)


def test_changes_are_requested_twice_at_most(dealing):
    deal_id = dealing.create_funded()
    for n in (1, 2):
        dealing.submit(deal_id)
        answer = dealing.act(deal_id, "milestones/1/request-changes", {"note": f"Change {n}."})
        (milestone,) = answer.json["milestones"]
        assert (answer.status_code, milestone["status"], milestone["changeNote"]) == (200, "Funded", f"Change {n}.")
        assert (milestone["changesRequested"], milestone["autoReleaseAt"]) == (n, None)
    dealing.submit(deal_id)

    third = dealing.act(deal_id, "milestones/1/request-changes", {"note": "Once more."})

    assert (third.status_code, third.json["error"]) == (409, "invalid_status_transition")
    assert dealing.list_statuses(deal_id) == ["Submitted"]


@pytest.mark.parametrize("note", [..., "", " ", 7, None, "a\x00", "x" * 5_001])
def test_a_malformed_request_for_changes_is_a_problem(submitted, note):
    dealing, deal_id = submitted
    body = {} if note is ... else {"note": note}

    answer = dealing.act(deal_id, "milestones/1/request-changes", body)

    assert (answer.status_code, answer.mimetype) == (400, "application/problem+json")
    assert dealing.list_statuses(deal_id) == ["Submitted"]


def test_what_is_out_of_turn_is_refused(dealing):
    deal_id = dealing.create_funded()
    early = (dealing.approve(deal_id), dealing.act(deal_id, "milestones/1/request-changes", {"note": "x"}))
    dealing.submit(deal_id)
    again = dealing.submit(deal_id)
    dealing.approve(deal_id)
    drain("payouts")
    late = (dealing.submit(deal_id), dealing.approve(deal_id), dealing.dispute(deal_id))

    for answer in (*early, again, *late):
        assert (answer.status_code, answer.json["error"]) == (409, "invalid_status_transition")


def test_nobody_releases_what_is_not_there(dealing):
    assert dealing.owner.post(f"{URL}/{UNKNOWN_ID}/milestones/1/approve").status_code == 404
