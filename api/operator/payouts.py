"""Payouts that wait for an operator: runs to review, payouts whose rail never says, what rails said by themselves."""

from collections.abc import Mapping
from dataclasses import asdict
from uuid import UUID

from flask import Blueprint, Response, jsonify
from marshmallow import ValidationError

from adapters import clock
from api.edge import audit, body, idempotency, path
from api.edge.operations import array, object_of, operation
from api.edge.relay_waker import wake_relay
from api.operator.guarding import DECIDE, READ
from models import db
from models.payouts import admin_queries, rail_events
from pipelines.operating import payout_reviews
from schemas.operator.money import (
    DoubtfulPayoutRecord,
    PayoutAttemptsRecord,
    RailEventsQuery,
    ReviewedRecord,
    ReviewRunsQuery,
    RunForReviewRecord,
    RunReviewBody,
    SettleBody,
    SettledRecord,
    ToldEventRecord,
)

blueprint = Blueprint("operator_payouts", __name__)

_RUN = RunForReviewRecord()
_REVIEWED = ReviewedRecord()
_DOUBTFUL = DoubtfulPayoutRecord()
_SETTLED = SettledRecord()
_ASKED = PayoutAttemptsRecord()
_TOLD = ToldEventRecord()

_MOST = 200


@blueprint.get("/api/operator/payouts/runs")
@operation(READ, array(_RUN), asks=ReviewRunsQuery())
def list_runs_to_review() -> Response:
    """List up to 200 payout runs that wait for a review, newest first; with `waiting=false` every run.

    Budget: 1 round trip.
    """
    with db.any_org_work():
        found = admin_queries.any_org_list_runs(organization_id=None, only_waiting=body.query()["waiting"], limit=_MOST)
    return jsonify(_RUN.dump(found, many=True))


@blueprint.post("/api/operator/payouts/runs/<run_id>/review")
@operation(
    DECIDE,
    object_of(_REVIEWED),
    takes=RunReviewBody(),
    refuses=("404 not_found", "409 invalid_status_transition"),
)
def submit_run_review(run_id: str) -> Response:
    """Let the payouts of a run that waits go, or fail them. The brand's audit log keeps why."""
    wanted_id, sent = path.uuid(run_id, "run"), body.load()

    def review() -> idempotency.Answer:
        now = clock.now()
        done = payout_reviews.any_org_review(run_id=wanted_id, is_approved=sent["decision"] == "approve", now=now)
        said = {"reviewStatus": done.status, "why": sent["why"], "payouts": done.payouts}
        audit.record("payout.reviewed", wanted_id, after=said, organization_id=done.organization_id, now=now)
        return 200, _REVIEWED.dump(done)

    answer = idempotency.run_once_for_operator(review)
    wake_relay()
    return answer


@blueprint.get("/api/operator/payouts/doubtful")
@operation(READ, array(_DOUBTFUL))
def list_doubtful_payouts() -> Response:
    """List up to 200 payouts that nobody knows the end of: asked a quarter of an hour ago or more and not answered, or
    paid after all by the word of a rail. Those asked longest ago first. Budget: 1 round trip.
    """
    with db.any_org_work():
        found = admin_queries.any_org_list_doubtful(limit=_MOST)
    return jsonify(_DOUBTFUL.dump(found, many=True))


@blueprint.get("/api/operator/payouts/<payout_id>")
@operation(READ, object_of(_ASKED), refuses=("404 not_found",))
def get_payout_asked(payout_id: str) -> Mapping[str, object]:
    """Show a payout with what its rail was asked, when, and what it said, attempt by attempt.

    Budget: 3 round trips, however many attempts there are.
    """
    wanted_id = path.uuid(payout_id, "payout")
    with db.any_org_work():
        payout, asked = payout_reviews.any_org_find(wanted_id)
    now = clock.now()
    attempts = [{**asdict(one), "asked_at": now - one.age} for one in asked]
    shown: Mapping[str, object] = _ASKED.dump({**asdict(payout), "attempts": attempts})
    return shown


@blueprint.get("/api/operator/payouts/events")
@operation(READ, array(_TOLD), asks=RailEventsQuery())
def list_rail_events() -> Response:
    """List up to 200 words of rails about nothing that we know, or against us; with `open=false` all, newest first.

    Budget: 1 round trip.
    """
    with db.any_org_work():
        found = rail_events.any_org_list(only_open=body.query()["open"], limit=_MOST)
    return jsonify(_TOLD.dump(found, many=True))


@blueprint.post("/api/operator/payouts/<payout_id>/settle")
@operation(
    DECIDE,
    object_of(_SETTLED),
    takes=SettleBody(),
    refuses=("404 not_found", "409 invalid_status_transition"),
)
def mark_payout_settled(payout_id: str) -> Response:
    """Settle a payout whose rail never said what became of it, by what its own dashboard shows: paid, or failed.

    `failedBecause` frees the payout to be sent again under a new key, which pays twice if the rail has paid.
    """
    wanted_id, sent = path.uuid(payout_id, "payout"), body.load()
    paid_as, failed_because = sent["paid_as"], sent["failed_because"]
    if (paid_as is None) == (failed_because is None):
        raise ValidationError({"paidAs": ["Say either paidAs or failedBecause."]})

    return _settled(wanted_id, paid_as, failed_because)


def _settled(payout_id: UUID, paid_as: str | None, failed_because: str | None) -> Response:
    def settle() -> idempotency.Answer:
        now = clock.now()
        done = payout_reviews.any_org_settle(
            payout_id=payout_id, paid_as=paid_as, failed_because=failed_because, now=now
        )
        said = {"status": done.status, "reference": paid_as, "why": failed_because, "key": done.key}
        audit.record("payout.settled", payout_id, after=said, organization_id=done.organization_id, now=now)
        return 200, _SETTLED.dump(done)

    answer = idempotency.run_once_for_operator(settle)
    wake_relay()
    return answer
