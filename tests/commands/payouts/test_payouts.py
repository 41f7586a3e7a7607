"""`flask payout runs|list|show|events|review`, and the effect of a review on the payouts of a run.

Source: core spec, "Payouts" (needsManualReview, holdUntil); tracking spec, section 6 (payout.failed).
"""

from datetime import timedelta
from uuid import uuid4

import pytest

from adapters import clock
from domain.refusals import Refused
from models import db
from models.payouts import rail_events
from pipelines.payouts import decisions
from tests.support.api.concurrency import run_concurrently
from tests.support.rows.payroll import Payroll


@pytest.fixture
def payroll(app):
    """Return a brand that may pay and owes ann and ben 20.00 USD each."""
    payroll = Payroll.create(app)
    for slug in ("ann", "ben"):
        payroll.affiliate(slug)
        payroll.sell(slug, 10_000)
    return payroll


@pytest.fixture
def under_review(payroll):
    """Return the payroll and a run that waits for an operator's review."""
    payroll.execute("update organization set payouts_need_review = true where id = %s", payroll.brand.id)
    run = payroll.run().run
    payroll.pay()
    return payroll, run


def _list_event_types(payroll):
    rows = payroll.brand.rows("select type from event where type like 'payout.%%' order by created_at, id")
    return [row[0] for row in rows]


def _count_attempts(payroll):
    return payroll.brand.rows("select count(*) from payout_attempt")[0][0]


def test_run_under_review_sends_nothing(under_review, flask):
    payroll, run = under_review

    (waiting,) = flask.json("payout", "runs", "--org", payroll.brand.id, "--waiting")

    payouts = payroll.brand.get(f"/api/v1/payouts?runId={run.id}").json["items"]
    assert [(row["status"], row["needsManualReview"]) for row in payouts] == [("Pending", True)] * 2
    assert _count_attempts(payroll) == 0
    assert (waiting["id"], waiting["payouts"], waiting["pending"]) == (str(run.id), 2, 2)
    assert (waiting["amount_cents"], waiting["review_status"]) == (4_000, "Pending")


def test_approved_run_is_sent(under_review, flask):
    payroll, run = under_review

    response = flask.json("payout", "review", run.id, "--approve", "--why", "known brand")
    payroll.pay()

    assert response == {"id": str(run.id), "reviewStatus": "Approved", "why": "known brand", "payouts": 2}
    assert payroll.payouts() == [("Paid", 2_000)] * 2
    assert payroll.balance("ann") == {"USD": 0}
    assert flask.json("payout", "runs", "--org", payroll.brand.id, "--waiting") == []


def test_rejected_run_fails_with_an_event(under_review, flask):
    payroll, run = under_review

    assert flask("payout", "review", run.id, "--reject", "--why", "stolen card")[0] == 0
    payroll.pay()

    assert payroll.payouts("status, failure_code") == [("Failed", "review_rejected")] * 2
    assert _list_event_types(payroll) == ["payout.created"] * 2 + ["payout.failed"] * 2
    assert _count_attempts(payroll) == 0
    assert payroll.balance("ann") == {"USD": 2_000}


def test_rejected_payout_is_due_again_once_voided(under_review, flask):
    payroll, run = under_review
    flask("payout", "review", run.id, "--reject", "--why", "stolen card")
    owner = payroll.brand.person("Owner")
    ids = [row[0] for row in payroll.payouts("id")]

    retried = owner.post(f"/api/v1/payouts/{ids[0]}/retry", {})
    voided = [owner.post(f"/api/v1/payouts/{payout_id}/void", {}).status_code for payout_id in ids]

    assert (retried.status_code, retried.json["error"]) == (409, "review_rejected")
    assert voided == [200, 200]
    assert payroll.preview().planned.native_totals == {"USD": 4_000}


def test_review_is_audited(under_review, flask):
    payroll, run = under_review

    flask("payout", "review", run.id, "--reject", "--why", "stolen card")

    assert payroll.brand.rows(
        "select actor_type, entity_id, after from audit_entry where action = 'payout.reviewed'"
    ) == [("operator", str(run.id), {"reviewStatus": "Rejected", "why": "stolen card", "payouts": 2})]


def test_second_review_is_refused(under_review, flask):
    _, run = under_review
    flask("payout", "review", run.id, "--approve", "--why", "fine")

    code, output = flask("payout", "review", run.id, "--reject", "--why", "not fine")

    assert code == 1
    assert "not waiting for a review" in output


def test_concurrent_reviews_decide_once(under_review):
    payroll, run = under_review

    def decide(is_approved):
        try:
            with db.any_org_work():
                payouts = decisions.decide_review(
                    organization_id=payroll.brand.id, run_id=run.id, is_approved=is_approved, now=clock.now()
                )
        except Refused as refusal:
            return refusal.code
        return len(payouts)

    results = run_concurrently(lambda: decide(True), lambda: decide(False))
    payroll.pay()

    assert sorted(map(str, results)) == ["2", "invalid_status_transition"]
    assert len(set(payroll.payouts("status"))) == 1


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--why", "x"], 2, "--approve or --reject"),
        (["--approve"], 2, "--why"),
        (["--approve", "--why", "x"], 1, "There is no run"),
    ],
)
def test_invalid_review_is_refused_with_the_reason(flask, arguments, code, words):
    result = flask("payout", "review", uuid4(), *arguments)

    assert result[0] == code
    assert words in result[1]


def test_payouts_of_an_unverified_brand_are_held_seven_days(payroll, flask, monkeypatch):
    payroll.execute("update organization set verification_state = 'unverified' where id = %s", payroll.brand.id)
    before = clock.now()
    run = payroll.run().run
    payroll.pay()

    payouts = payroll.brand.get("/api/v1/payouts").json["items"]
    assert [row["status"] for row in payouts] == ["Pending"] * 2
    assert payouts[0]["holdUntil"] is not None
    assert timedelta(days=7) <= run.hold_until - before < timedelta(days=7, minutes=1)
    assert _count_attempts(payroll) == 0

    # A worker whose clock is ahead runs the job before the hold ends; it must not pay.
    payroll.execute("update job set run_at = now() where name = 'payout.transfer'")
    payroll.pay()
    assert _count_attempts(payroll) == 0

    later = clock.now() + timedelta(days=7)
    monkeypatch.setattr(clock, "now", lambda: later)
    payroll.execute("update job set run_at = now() where name = 'payout.transfer'")
    payroll.pay()
    assert payroll.payouts() == [("Paid", 2_000)] * 2


def test_approved_run_still_waits_for_its_hold(payroll, flask):
    payroll.execute(
        "update organization set payouts_need_review = true, payout_hold_days = 3 where id = %s", payroll.brand.id
    )
    run = payroll.run().run

    flask("payout", "review", run.id, "--approve", "--why", "fine")
    payroll.pay()

    assert _count_attempts(payroll) == 0
    assert payroll.brand.rows("select distinct run_at from job where name = 'payout.transfer'") == [(run.hold_until,)]


def test_payouts_are_filtered_by_organization_run_and_status(payroll, flask):
    run = payroll.run().run
    payroll.pay()

    paid = flask.json("payout", "list", "--org", payroll.brand.id, "--run", run.id, "--status", "Paid")

    assert [(row["amount_cents"], row["status"], row["attempt"]) for row in paid] == [(2_000, "Paid", 1)] * 2
    assert len(flask.json("payout", "list", "--org", payroll.brand.id, "--limit", 1)) == 1
    assert flask.json("payout", "list", "--org", payroll.brand.id, "--status", "Failed") == []
    assert flask.json("payout", "list", "--org", uuid4()) == []
    assert "Paid" in flask("payout", "list", "--org", payroll.brand.id)[1]


def test_show_prints_the_attempts_and_masks_the_destination(payroll, flask):
    payroll.run()
    payroll.pay()
    (payout_id,) = payroll.payouts("id")[0]

    view = flask.json("payout", "show", payout_id)
    code, output = flask("payout", "show", payout_id)

    assert [(attempt["key"], attempt["state"]) for attempt in view["attempts"]] == [(f"payout:{payout_id}:1", "paid")]
    assert (view["status"], view["lines"], view["open_lines"]) == ("Paid", 1, 0)
    assert code == 0
    assert "acct_" not in output
    assert view["destination"] == "..."


def test_unknown_payout_is_an_error(flask):
    assert flask("payout", "show", uuid4())[0] == 1


def test_rail_events_are_listed_and_filtered_by_open(flask, app):
    for event_id in ("WH-list-1", "WH-list-2"):
        with db.any_org_work():
            rail_events.any_org_insert_once(
                rail="wallet",
                event_id=event_id,
                payout_key="payout:x:1",
                answer="Paid",
                references={"walletBatchId": "B1"},
                detail=None,
                at=clock.now(),
            )

    events = flask.json("payout", "events", "--open")
    code, output = flask("payout", "events")

    assert {"WH-list-1", "WH-list-2"} <= {event["event_id"] for event in events}
    assert {event["outcome"] for event in events} <= {"Parked", "Contradicts"}
    assert (code, "WH-list-1" in output) == (0, True)
    with db.any_org_work():
        db.db.run("delete from rail_event")
