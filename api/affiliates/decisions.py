"""Decisions about affiliates: approve, reject, and both kinds of bulk action.

Source: core spec, "Affiliates" and section 3 (affiliate).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from uuid import UUID

from flask import Blueprint, Response

from adapters import clock
from api.access import guards
from api.access.guards import Guard
from api.affiliates import serializers
from api.edge import audit, body, idempotency, path
from api.edge.operations import object_of, operation
from domain.organization import plans
from domain.organization.access import Role
from domain.statuses import AffiliateStatus
from models import db
from models.affiliates.affiliates import Affiliate
from pipelines.affiliates import bulk_actions, management
from pipelines.coupons import revocation
from schemas.affiliates.affiliate import AffiliateRecord, Nothing, Rejection
from schemas.affiliates.bulk import BulkAction, BulkApproved, BulkIds, BulkOutcome, BulkPaused

blueprint = Blueprint("affiliate_actions", __name__)

_WRITE = Guard(audience="brand", scope="read_write", role=Role.Manager, plan=plans.Tier.Starter)
_BULK = Guard(audience="brand", scope="read_write", role=Role.Admin, verified_email=True, plan=plans.Tier.Starter)
_BULK_AT_DASHBOARD = Guard(audience="dashboard", scope="read_write", role=Role.Manager, verified_email=True)
_RECORD = AffiliateRecord()
_OUTCOME = BulkOutcome()

# The name of each action in the audit log, and the values after it.
_PAST_TENSE = {"approve": "approved", "pause": "paused", "delete": "deleted"}
_AFTER: Mapping[str, Mapping[str, object]] = {
    "approve": {"status": AffiliateStatus.Approved.value},
    "pause": {"status": AffiliateStatus.Paused.value},
    "delete": {"deleted": True},
}

_Answer = tuple[int, Mapping[str, object]]


@blueprint.post("/api/v1/affiliates/<affiliate_id>/approve")
@operation(_WRITE, object_of(_RECORD), takes=Nothing(), refuses=("404 not_found", "409 invalid_status_transition"))
def approve_affiliate(affiliate_id: str) -> Response:
    """Approve an affiliate who applied or was rejected. 200 with the affiliate, also if they are approved already."""
    wanted_id = _check_exists(affiliate_id)
    body.load_optional()
    return _run_once(lambda: _approve(wanted_id))


@blueprint.post("/api/v1/affiliates/<affiliate_id>/reject")
@operation(_WRITE, object_of(_RECORD), takes=Rejection(), refuses=("404 not_found", "409 invalid_status_transition"))
def reject_affiliate(affiliate_id: str) -> Response:
    """Reject an application and email the applicant; only the brand sees the reason. 200 with the affiliate."""
    wanted_id = _check_exists(affiliate_id)
    reason = (body.load_optional()["reason"] or "").strip() or None
    return _run_once(lambda: _reject(wanted_id, reason))


@blueprint.post("/api/v1/affiliates/bulk-action")
@operation(_BULK, object_of(_OUTCOME), takes=BulkAction())
def run_bulk_action() -> Response:
    """Approve, pause or delete up to 200 affiliates; others are skipped. 200 with the ids of the affected ones."""
    requested = body.load()
    return _run_once(lambda: (200, _OUTCOME.dump(_run(requested["action"], requested["affiliate_ids"]))))


@blueprint.post("/api/affiliates/bulk/approve")
@operation(_BULK_AT_DASHBOARD, object_of(BulkApproved()), takes=BulkIds())
def approve_affiliates() -> Response:
    """Approve up to 500 applications. 200 with counts."""
    return _run_with_counts("approve")


@blueprint.post("/api/affiliates/bulk/pause")
@operation(_BULK_AT_DASHBOARD, object_of(BulkPaused()), takes=BulkIds())
def pause_affiliates() -> Response:
    """Pause up to 500 affiliates. 200 with counts."""
    return _run_with_counts("pause")


def _check_exists(affiliate_id: str) -> UUID:
    wanted_id = path.uuid(affiliate_id, "affiliate")
    with db.unit_of_work(guards.organization_id()):
        management.find(organization_id=guards.organization_id(), affiliate_id=wanted_id)
    return wanted_id


def _run_once(work: Callable[[], _Answer]) -> Response:
    return idempotency.run_once(work, wakes_relay=True)


def _approve(affiliate_id: UUID) -> _Answer:
    now = clock.now()

    def decide(affiliate: Affiliate) -> Affiliate:
        return management.approve(affiliate=affiliate, now=now)

    return _decide(affiliate_id, "affiliate.approved", decide)


def _reject(affiliate_id: UUID, reason: str | None) -> _Answer:
    now = clock.now()

    def decide(affiliate: Affiliate) -> Affiliate:
        return management.reject(affiliate=affiliate, reason=reason, now=now)

    return _decide(affiliate_id, "affiliate.rejected", decide)


def _decide(affiliate_id: UUID, action: str, decide: Callable[[Affiliate], Affiliate]) -> _Answer:
    before = management.lock(organization_id=guards.organization_id(), affiliate_id=affiliate_id)
    links = serializers.list_links(affiliate_id)
    after = decide(before)
    serializers.record_change(action, before, after, links, now=clock.now())
    return 200, serializers.serialize(after, links)


def _run_with_counts(action: str) -> Response:
    requested = body.load()

    def work() -> _Answer:
        outcome = _run(action, requested["ids"])
        counts = {name: outcome[name] for name in ("affected", "skipped")}
        return 200, {**counts, _PAST_TENSE[action]: outcome["affected"]}

    return _run_once(work)


def _run(action: str, affiliate_ids: Sequence[UUID]) -> dict[str, Any]:
    now = clock.now()
    outcome = bulk_actions.run(
        organization_id=guards.organization_id(), action=action, affiliate_ids=affiliate_ids, now=now
    )
    for row in outcome.affected:
        audit.record(
            f"affiliate.bulk_{_PAST_TENSE[action]}",
            row.id,
            before={"status": row.status_before},
            after=_AFTER[action],
            now=now,
        )
    affected_ids = [row.id for row in outcome.affected]
    if action == "delete" and affected_ids:
        revocation.revoke_owned(organization_id=guards.organization_id(), affiliate_ids=affected_ids, now=now)
    return {
        "action": action,
        "affected": len(outcome.affected),
        "skipped": outcome.skipped,
        "affiliate_ids": affected_ids,
    }
