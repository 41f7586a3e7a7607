"""The creator network: an operator looks at what is advertised, and lets affiliates find it or not.

Source: core spec, "Program fields accepted on create or update", rule 5.
"""

from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from flask import Blueprint, Response

from adapters import clock
from api.access import guards
from api.edge import audit, body, idempotency, paging, path
from api.edge.operations import object_of, operation, page
from api.edge.relay_waker import wake_relay
from api.operator.guarding import READ, WRITE
from models import db
from models.programs.programs import Program
from pipelines.programs import networking, supervision
from schemas.operator.network import (
    ApprovalBody,
    ListingRejectionBody,
    NetworkReviewsQuery,
    ReviewedProgramRecord,
    listing_records,
)
from schemas.operator.queues import WhyBody

blueprint = Blueprint("operator_network", __name__)

_REVIEW = "/api/operator/network/<program_id>"
_DECIDED = ("404 not_found", "409 invalid_status_transition", "409 network_request_changed")


@blueprint.get("/api/operator/network")
@operation(READ, page(ReviewedProgramRecord()), asks=NetworkReviewsQuery())
def list_network_reviews() -> Mapping[str, Any]:
    """List programs whose brands listed them in the network, those that wait longest first; by default those that wait.

    A description is cut after 500 characters. Budget: 1 round trip.
    """
    query = body.query()
    asked = paging.read_page_request(query, order=query["status"])
    with db.any_org_work():
        rows = networking.any_org_queue(status=query["status"], after=asked.after, limit=asked.limit)
    return paging.serialize_page(asked, rows, listing_records, time_field="asked_at")


@blueprint.get(_REVIEW)
@operation(READ, object_of(ReviewedProgramRecord()), refuses=("404 not_found",))
def get_network_review(program_id: str) -> Mapping[str, Any]:
    """Show one program that its brand listed, with all that it advertises. Budget: 1 round trip."""
    wanted_id = path.uuid(program_id, "program")
    with db.any_org_work():
        return _shown(wanted_id)


@blueprint.post(f"{_REVIEW}/approve")
@operation(WRITE, object_of(ReviewedProgramRecord()), takes=ApprovalBody(), refuses=_DECIDED)
def approve_network_program(program_id: str) -> Response:
    """Let affiliates find a program that waits for its review. 200 with it; its Owners get a letter."""
    return _decided(program_id, "program.network_approved", networking.approve)


@blueprint.post(f"{_REVIEW}/reject")
@operation(WRITE, object_of(ReviewedProgramRecord()), takes=ListingRejectionBody(), refuses=_DECIDED)
def reject_network_program(program_id: str) -> Response:
    """Turn down a program that waits for its review, which makes it Private. 200 with it; its Owners get a letter."""
    return _decided(program_id, "program.network_rejected", networking.reject)


@blueprint.post(f"{_REVIEW}/revoke")
@operation(
    WRITE,
    object_of(ReviewedProgramRecord()),
    takes=WhyBody(),
    refuses=("404 not_found", "409 invalid_status_transition"),
)
def revoke_network_program(program_id: str) -> Response:
    """Take a program that was approved out of the network, which makes it Private and Rejected.

    200 with it; its Owners get a letter.
    """
    return _decided(program_id, "program.network_revoked", networking.revoke)


def _decided(program_id: str, action: str, act: Callable[..., Program]) -> Response:
    wanted_id, sent = path.uuid(program_id, "program"), body.load()

    def decide() -> idempotency.Answer:
        now = clock.now()
        before = supervision.any_org_lock(wanted_id)
        after = act(program=before, by=guards.operator().name, now=now, **sent)
        said = {
            "networkVisibility": after.network_visibility,
            "networkReview": after.network_review,
            "why": sent["why"],
        }
        audit.record(action, wanted_id, after=said, organization_id=after.organization_id, now=now)
        return 200, _shown(wanted_id)

    answer = idempotency.run_once_for_operator(decide)
    wake_relay()
    return answer


def _shown(program_id: UUID) -> Mapping[str, Any]:
    return listing_records([networking.any_org_reviewed(program_id)])[0]
