"""Payouts that wait for an operator: runs to review, payouts with an unknown outcome, events of rails."""

from collections.abc import Mapping
from dataclasses import asdict
from uuid import UUID

from flask import Blueprint, Response, jsonify
from marshmallow import ValidationError

from adapters import clock
from api.edge import audit, body, idempotency, path
from api.edge.operations import array, object_of, operation
from api.operator.operator_guards import DECIDE, READ
from models import db
from models.payouts import admin_queries, rail_events
from pipelines.operating import payout_reviews
from schemas.operator.money import (
    DoubtfulPayoutRecord,
    OperatorRunRecord,
    PayoutAttemptsRecord,
    RailEventsQuery,
    ReviewedRunRecord,
    ReviewRunsQuery,
    RunReviewBody,
    SettleBody,
    SettledPayoutRecord,
    ToldEventRecord,
)

blueprint = Blueprint("operator_payouts", __name__)

_RUN = OperatorRunRecord()
_REVIEWED = ReviewedRunRecord()
_DOUBTFUL = DoubtfulPayoutRecord()
_SETTLED = SettledPayoutRecord()
_WITH_ATTEMPTS = PayoutAttemptsRecord()
_RAIL_EVENT = ToldEventRecord()

_MAX_ROWS = 200


@blueprint.get("/api/operator/payouts/runs")
@operation(READ, array(_RUN), asks=ReviewRunsQuery())
def list_runs_to_review() -> Response:
    """List up to 200 payout runs that wait for a review, newest first; with `waiting=false` all runs.

    Budget: 1 round trip.
    """
    with db.any_org_work():
        rows = admin_queries.any_org_list_runs(
            organization_id=None, only_waiting=body.query()["waiting"], limit=_MAX_ROWS
        )
    return jsonify(_RUN.dump(rows, many=True))


@blueprint.post("/api/operator/payouts/runs/<run_id>/review")
@operation(
    DECIDE,
    object_of(_REVIEWED),
    takes=RunReviewBody(),
    refuses=("404 not_found", "409 invalid_status_transition"),
)
def submit_run_review(run_id: str) -> Response:
    """Approve the payouts of a run that waits for a review, or fail them. The brand's audit log keeps the reason."""
    wanted_id, values = path.uuid(run_id, "run"), body.load()

    def review() -> idempotency.Answer:
        now = clock.now()
        done = payout_reviews.any_org_review(run_id=wanted_id, is_approved=values["decision"] == "approve", now=now)
        details = {"reviewStatus": done.status, "why": values["why"], "payouts": done.payouts}
        audit.record("payout.reviewed", wanted_id, after=details, organization_id=done.organization_id, now=now)
        return 200, _REVIEWED.dump(done)

    return idempotency.run_once_for_operator(review, wakes_relay=True)


@blueprint.get("/api/operator/payouts/doubtful")
@operation(READ, array(_DOUBTFUL))
def list_doubtful_payouts() -> Response:
    """List up to 200 payouts with an unknown outcome: requested from the rail at least 15 minutes ago without answer,
    or reported as paid after they had failed. Oldest request first. Budget: 1 round trip.
    """
    with db.any_org_work():
        rows = admin_queries.any_org_list_doubtful(limit=_MAX_ROWS)
    return jsonify(_DOUBTFUL.dump(rows, many=True))


@blueprint.get("/api/operator/payouts/<payout_id>")
@operation(READ, object_of(_WITH_ATTEMPTS), refuses=("404 not_found",))
def get_payout_asked(payout_id: str) -> Mapping[str, object]:
    """Show a payout with the requests to its rail, their times and answers, attempt by attempt.

    Budget: 3 round trips, for any number of attempts.
    """
    wanted_id = path.uuid(payout_id, "payout")
    with db.any_org_work():
        payout, rows = payout_reviews.any_org_find(wanted_id)
    now = clock.now()
    attempts = [{**asdict(row), "asked_at": now - row.age} for row in rows]
    return _WITH_ATTEMPTS.dump({**asdict(payout), "attempts": attempts})


@blueprint.get("/api/operator/payouts/events")
@operation(READ, array(_RAIL_EVENT), asks=RailEventsQuery())
def list_rail_events() -> Response:
    """List up to 200 events of rails on unknown payments or against our records; with `open=false` all, newest first.

    Budget: 1 round trip.
    """
    with db.any_org_work():
        rows = rail_events.any_org_list(only_open=body.query()["open"], limit=_MAX_ROWS)
    return jsonify(_RAIL_EVENT.dump(rows, many=True))


@blueprint.post("/api/operator/payouts/<payout_id>/settle")
@operation(
    DECIDE,
    object_of(_SETTLED),
    takes=SettleBody(),
    refuses=("404 not_found", "409 invalid_status_transition"),
)
def mark_payout_settled(payout_id: str) -> Response:
    """Settle a payout whose rail never reported an outcome, according to the rail's dashboard: paid, or failed.

    `failedBecause` allows the payout to be sent again under a new key, which pays twice if the rail has paid.
    """
    wanted_id, values = path.uuid(payout_id, "payout"), body.load()
    paid_as, failed_because = values["paid_as"], values["failed_because"]
    if (paid_as is None) == (failed_because is None):
        raise ValidationError({"paidAs": ["Send either paidAs or failedBecause."]})

    return _settle(wanted_id, paid_as, failed_because)


def _settle(payout_id: UUID, paid_as: str | None, failed_because: str | None) -> Response:
    def settle() -> idempotency.Answer:
        now = clock.now()
        done = payout_reviews.any_org_settle(
            payout_id=payout_id, paid_as=paid_as, failed_because=failed_because, now=now
        )
        details = {"status": done.status, "reference": paid_as, "why": failed_because, "key": done.key}
        audit.record("payout.settled", payout_id, after=details, organization_id=done.organization_id, now=now)
        return 200, _SETTLED.dump(done)

    return idempotency.run_once_for_operator(settle, wakes_relay=True)
