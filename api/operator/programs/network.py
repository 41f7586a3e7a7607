"""The creator network: an operator reviews programs before affiliates can find them.

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
from api.operator.operator_guards import READ, WRITE
from models import db
from models.programs.programs import Program
from pipelines.programs import network_listing, supervision
from schemas.operator.network import (
    NetworkApprovalBody,
    NetworkListingRecord,
    NetworkRejectionBody,
    NetworkReviewsQuery,
    listing_records,
)
from schemas.operator.queues import WhyBody

blueprint = Blueprint("operator_network", __name__)

_REVIEW = "/api/operator/network/<program_id>"
_DECISION_REFUSALS = ("404 not_found", "409 invalid_status_transition", "409 network_request_changed")


@blueprint.get("/api/operator/network")
@operation(READ, page(NetworkListingRecord()), asks=NetworkReviewsQuery())
def list_network_reviews() -> Mapping[str, Any]:
    """List programs that their brands submitted to the network, longest waiting first; by default the waiting ones.

    A description is cut after 500 characters. Budget: 1 round trip.
    """
    query = body.query()
    page_request = paging.read_page_request(query, order=query["status"])
    with db.any_org_work():
        rows = network_listing.any_org_list_reviews(status=query["status"], **page_request.window)
    return paging.serialize_page(page_request, rows, listing_records, time_field="asked_at")


@blueprint.get(_REVIEW)
@operation(READ, object_of(NetworkListingRecord()), refuses=("404 not_found",))
def get_network_review(program_id: str) -> Mapping[str, Any]:
    """Show one submitted program with all its public texts. Budget: 1 round trip."""
    wanted_id = path.uuid(program_id, "program")
    with db.any_org_work():
        return _serialize(wanted_id)


@blueprint.post(f"{_REVIEW}/approve")
@operation(WRITE, object_of(NetworkListingRecord()), takes=NetworkApprovalBody(), refuses=_DECISION_REFUSALS)
def approve_network_program(program_id: str) -> Response:
    """Approve a program that waits for its review. 200 with it; its Owners get an email."""
    return _decide(program_id, "program.network_approved", network_listing.approve)


@blueprint.post(f"{_REVIEW}/reject")
@operation(WRITE, object_of(NetworkListingRecord()), takes=NetworkRejectionBody(), refuses=_DECISION_REFUSALS)
def reject_network_program(program_id: str) -> Response:
    """Reject a program that waits for its review, which makes it Private. 200 with it; its Owners get an email."""
    return _decide(program_id, "program.network_rejected", network_listing.reject)


@blueprint.post(f"{_REVIEW}/revoke")
@operation(
    WRITE,
    object_of(NetworkListingRecord()),
    takes=WhyBody(),
    refuses=("404 not_found", "409 invalid_status_transition"),
)
def revoke_network_program(program_id: str) -> Response:
    """Remove an approved program from the network, which makes it Private and Rejected.

    200 with it; its Owners get an email.
    """
    return _decide(program_id, "program.network_revoked", network_listing.revoke)


def _decide(program_id: str, action: str, act: Callable[..., Program]) -> Response:
    wanted_id, values = path.uuid(program_id, "program"), body.load()

    def decide() -> idempotency.Answer:
        now = clock.now()
        before = supervision.any_org_lock(wanted_id)
        after = act(program=before, by=guards.operator().name, now=now, **values)
        details = {
            "networkVisibility": after.network_visibility,
            "networkReview": after.network_review,
            "why": values["why"],
        }
        audit.record(action, wanted_id, after=details, organization_id=after.organization_id, now=now)
        return 200, _serialize(wanted_id)

    return idempotency.run_once_for_operator(decide, wakes_relay=True)


def _serialize(program_id: UUID) -> Mapping[str, Any]:
    return listing_records([network_listing.any_org_find_review(program_id)])[0]
