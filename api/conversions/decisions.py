"""Decisions about a conversion: validate, invalidate, approve or deny.

Source: core spec, "Conversions" and section 3 "States".
"""

from datetime import datetime
from uuid import UUID

from flask import Blueprint, Response

from adapters import clock
from api.access import guards
from api.access.guards import Guard
from api.edge import audit, body, idempotency, path
from api.edge.operations import object_of, operation
from domain.conversions.review import Action
from domain.organization import plans
from domain.organization.access import Role
from pipelines.conversions import review
from schemas.conversions.conversion import ConversionRecord, ReviewBody

blueprint = Blueprint("conversion_actions", __name__)

_BRAND = Guard(audience="brand", scope="read_write", role=Role.Manager, plan=plans.Tier.Starter)
_DASHBOARD = Guard(audience="dashboard", scope="read_write", role=Role.Manager)
_RECORD = ConversionRecord()
_BODY = ReviewBody()
_REFUSES = ("404 not_found", "409 invalid_status_transition")


@blueprint.post("/api/v1/conversions/<conversion_id>/validate")
@operation(_BRAND, object_of(_RECORD), takes=_BODY, refuses=_REFUSES)
def validate_conversion(conversion_id: str) -> Response:
    """Release an invalidated conversion: it is Pending again, and its hold counts from when it occurred."""
    return _run_review(conversion_id, Action.validate)


@blueprint.post("/api/v1/conversions/<conversion_id>/invalidate")
@operation(_BRAND, object_of(_RECORD), takes=_BODY, refuses=_REFUSES)
def invalidate_conversion(conversion_id: str) -> Response:
    """Exclude a pending or approved conversion from payment."""
    return _run_review(conversion_id, Action.invalidate)


@blueprint.post("/api/conversions/<conversion_id>/approve")
@operation(_DASHBOARD, object_of(_RECORD), takes=_BODY, refuses=_REFUSES)
def approve_conversion(conversion_id: str) -> Response:
    """Approve a pending conversion before its hold has passed."""
    return _run_review(conversion_id, Action.approve)


@blueprint.post("/api/conversions/<conversion_id>/deny")
@operation(_DASHBOARD, object_of(_RECORD), takes=_BODY, refuses=_REFUSES)
def deny_conversion(conversion_id: str) -> Response:
    """Deny a pending or approved conversion permanently."""
    return _run_review(conversion_id, Action.deny)


def _run_review(conversion_id: str, action: Action) -> Response:
    wanted_id, now = path.uuid(conversion_id, "conversion"), clock.now()
    return idempotency.run_once(lambda: _review(wanted_id, action, now), wakes_relay=True)


def _review(conversion_id: UUID, action: Action, now: datetime) -> idempotency.Answer:
    subject = review.lock(organization_id=guards.organization_id(), conversion_id=conversion_id, now=now)
    reason = body.load_optional()["reason"]
    changed = review.decide(subject, action=action, reason=reason, now=now)
    before, after = _RECORD.dump(subject.conversion), _RECORD.dump(changed)
    audited = after | ({"reason": reason} if reason else {})
    audit.record(f"conversion.{action}", conversion_id, before=before, after=audited, now=now)
    return 200, after
