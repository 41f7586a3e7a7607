"""Work on milestones: the affiliate submits, the brand approves or requests changes, each in order."""

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


def test_submitting_a_milestone_sets_its_release_time_and_sends_an_event(scene):
    deal_id = scene.create_funded()

    answer = scene.submit(deal_id, urls=[*URLS, "http://files.example.com/a?b=c#d"])
    (milestone,) = answer.json["milestones"]

    assert (answer.status_code, milestone["status"]) == (200, "Submitted")
    assert milestone["submissionUrls"] == [*URLS, "http://files.example.com/a?b=c#d"]
    (data,) = scene.list_event_data("milestone.submitted")
    assert data == {
        "dealId": deal_id,
        "milestoneId": milestone["id"],
        "seq": 1,
        "submissionUrls": milestone["submissionUrls"],
        "autoReleaseAt": milestone["autoReleaseAt"],
    }
    ((auto_release_at,),) = scene.brand.rows("select auto_release_at from deal_milestone")
    assert abs(auto_release_at - clock.now() - timedelta(days=7)) < timedelta(minutes=5)


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
def test_malformed_submission_returns_400_and_changes_nothing(scene, urls):
    deal_id = scene.create_funded()
    body = {} if urls is ... else {"urls": urls}

    answer = scene.act(deal_id, "milestones/1/submit", body, who=scene.creator)

    assert (answer.status_code, answer.mimetype) == (400, "application/problem+json")
    assert scene.list_statuses(deal_id) == ["Funded"]


@pytest.mark.parametrize("seq", ["2", "0", "-1", "01", "1.0", "nope", "9" * 30, "%00"])
def test_unknown_milestone_returns_404(submitted_deal, seq):
    scene, deal_id = submitted_deal

    for who, verb in ((scene.creator, "submit"), (scene.owner, "approve"), (scene.creator, "dispute")):
        body = {"urls": URLS, "reason": "r", "proposedResolution": "p"}
        assert scene.act(deal_id, f"milestones/{seq}/{verb}", body, who=who).status_code == 404


def test_strangers_and_rivals_get_404_for_a_milestone(submitted_deal, rival, app):
    scene, deal_id = submitted_deal
    stranger = Partner(app, f"eve-{uuid4().hex}@example.com")

    assert stranger.post(f"{OWN}/{deal_id}/milestones/1/submit", {"urls": URLS}).status_code == 404
    for verb, body in (("approve", None), ("request-changes", {"note": "x"})):
        answer = rival.post(f"{URL}/{deal_id}/milestones/1/{verb}", body)
        assert (answer.status_code, answer.json["error"]) == (404, "not_found")
    assert scene.list_statuses(deal_id) == ["Submitted"]
    assert scene.brand.person("Viewer").post(f"{URL}/{deal_id}/milestones/1/approve").status_code == 403


def test_submitting_and_approving_do_not_wait_for_a_payout_run(scene):
    deal_id = scene.create_funded()

    with db.unit_of_work(scene.brand.id):
        advisory_locks.take_payout_run_lock(scene.brand.id)
        submission = start_call(lambda: scene.submit(deal_id))()
        approval = start_call(lambda: scene.approve(deal_id))()

    assert (submission.status_code, approval.status_code) == (200, 200)


def test_third_request_for_changes_returns_409(scene):
    deal_id = scene.create_funded()
    for n in (1, 2):
        scene.submit(deal_id)
        answer = scene.act(deal_id, "milestones/1/request-changes", {"note": f"Change {n}."})
        (milestone,) = answer.json["milestones"]
        assert (answer.status_code, milestone["status"], milestone["changeNote"]) == (200, "Funded", f"Change {n}.")
        assert (milestone["changesRequested"], milestone["autoReleaseAt"]) == (n, None)
    scene.submit(deal_id)

    third = scene.act(deal_id, "milestones/1/request-changes", {"note": "Once more."})

    assert (third.status_code, third.json["error"]) == (409, "invalid_status_transition")
    assert scene.list_statuses(deal_id) == ["Submitted"]


@pytest.mark.parametrize("note", [..., "", " ", 7, None, "a\x00", "x" * 5_001])
def test_malformed_request_for_changes_returns_400(submitted_deal, note):
    scene, deal_id = submitted_deal
    body = {} if note is ... else {"note": note}

    answer = scene.act(deal_id, "milestones/1/request-changes", body)

    assert (answer.status_code, answer.mimetype) == (400, "application/problem+json")
    assert scene.list_statuses(deal_id) == ["Submitted"]


def test_action_out_of_order_returns_409(scene):
    deal_id = scene.create_funded()
    early = (scene.approve(deal_id), scene.act(deal_id, "milestones/1/request-changes", {"note": "x"}))
    scene.submit(deal_id)
    again = scene.submit(deal_id)
    scene.approve(deal_id)
    drain("payouts")
    late = (scene.submit(deal_id), scene.approve(deal_id), scene.dispute(deal_id))

    for answer in (*early, again, *late):
        assert (answer.status_code, answer.json["error"]) == (409, "invalid_status_transition")


def test_approving_a_milestone_of_an_unknown_deal_returns_404(scene):
    assert scene.owner.post(f"{URL}/{UNKNOWN_ID}/milestones/1/approve").status_code == 404
