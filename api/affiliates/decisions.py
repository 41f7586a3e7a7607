"""Decisions about affiliates: approve, reject, and both kinds of bulk action.

Source: core spec, "Affiliates" and section 3 (affiliate).
"""

from collections.abc import Callable, Mapping
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
from models.affiliates.bulk_actions import ChangedAffiliate
from pipelines.affiliates import bulk_actions, management
from pipelines.affiliates.bulk_actions import BulkRequest, BulkResult
from pipelines.coupons import revocation
from schemas.affiliates.affiliate import AffiliateRecord, Nothing, Rejection
from schemas.affiliates.bulk import (
    BulkAction,
    BulkApproved,
    BulkChange,
    BulkChangeOutcome,
    BulkIds,
    BulkOutcome,
    BulkPaused,
)

blueprint = Blueprint("affiliate_actions", __name__)

_WRITE = Guard(audience="brand", scope="read_write", role=Role.Manager, plan=plans.Tier.Starter)
_BULK = Guard(audience="brand", scope="read_write", role=Role.Admin, verified_email=True, plan=plans.Tier.Starter)
_BULK_AT_DASHBOARD = Guard(audience="dashboard", scope="read_write", role=Role.Manager, verified_email=True)
_RECORD = AffiliateRecord()
_OUTCOME, _EXPLAINED = BulkOutcome(), BulkChangeOutcome()

# The name of each action in the audit log, and the values after it.
_PAST_TENSE = {
    "approve": "approved",
    "pause": "paused",
    "delete": "deleted",
    "reject": "rejected",
    "tag": "tagged",
    "untag": "untagged",
    "group": "grouped",
}
_STATUS_AFTER = {
    "approve": AffiliateStatus.Approved,
    "pause": AffiliateStatus.Paused,
    "reject": AffiliateStatus.Rejected,
}

_Answer = tuple[int, Mapping[str, object]]


@blueprint.post("/api/v1/affiliates/<affiliate_id>/approve")
@operation(_WRITE, object_of(_RECORD), takes=Nothing(), refuses=("404 not_found", "409 invalid_status_transition"))
def approve_affiliate(affiliate_id: str) -> Response:
    """Approve an affiliate who applied or was rejected. 200 with the affiliate, also if they are approved already."""
    affiliate_uuid = _check_exists(affiliate_id)
    body.load_optional()
    return _run_once(lambda: _approve(affiliate_uuid))


@blueprint.post("/api/v1/affiliates/<affiliate_id>/reject")
@operation(_WRITE, object_of(_RECORD), takes=Rejection(), refuses=("404 not_found", "409 invalid_status_transition"))
def reject_affiliate(affiliate_id: str) -> Response:
    """Reject an application and email the applicant; only the brand sees the reason. 200 with the affiliate."""
    affiliate_uuid = _check_exists(affiliate_id)
    reason = (body.load_optional()["reason"] or "").strip() or None
    return _run_once(lambda: _reject(affiliate_uuid, reason))


@blueprint.post("/api/v1/affiliates/bulk-action")
@operation(_BULK, object_of(_OUTCOME), takes=BulkAction(), refuses=("404 not_found",))
def run_bulk_action() -> Response:
    """Approve, reject, pause, delete, tag or group up to 200 affiliates; others are skipped.

    200 with the ids of the affected ones.
    """
    requested = BulkRequest(**_with_values(body.load()))
    return _run_once(lambda: (200, _OUTCOME.dump(_serialize(requested, _run(requested)))))


@blueprint.post("/api/affiliates/bulk")
@operation(_BULK_AT_DASHBOARD, object_of(_EXPLAINED), takes=BulkChange(), refuses=("404 not_found",))
def change_affiliates() -> Response:
    """Approve, reject, pause, tag or group up to 500 affiliates. 200 with the reason for each skipped one."""
    requested = BulkRequest(**_with_values(body.load()))

    def work() -> _Answer:
        result = _run(requested)
        skipped = bulk_actions.explain_skipped(guards.organization_id(), requested, result)
        return 200, _EXPLAINED.dump({**_serialize(requested, result), "skipped_affiliates": skipped})

    return _run_once(work)


def _with_values(requested: Mapping[str, Any]) -> dict[str, Any]:
    """Return a loaded body as the fields of `BulkRequest`."""
    values = {**requested, "group_id": requested["partner_group_id"], "tag": requested.get("tag") or ""}
    values.pop("partner_group_id")
    return values


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
    affiliate_uuid = path.uuid(affiliate_id, "affiliate")
    with db.unit_of_work(guards.organization_id()):
        management.find(organization_id=guards.organization_id(), affiliate_id=affiliate_uuid)
    return affiliate_uuid


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
        result = _run(BulkRequest(action, requested["ids"]))
        affected = len(result.affected)
        return 200, {"affected": affected, "skipped": result.skipped_count, _PAST_TENSE[action]: affected}

    return _run_once(work)


def _run(requested: BulkRequest) -> BulkResult:
    now, action = clock.now(), requested.action
    result = bulk_actions.run(guards.organization_id(), requested, now=now)
    for row in result.affected:
        before, after = _audited_values(requested, row)
        audit.record(f"affiliate.bulk_{_PAST_TENSE[action]}", row.id, before=before, after=after, now=now)
    if action == "delete" and result.affected:
        affected_ids = [row.id for row in result.affected]
        revocation.revoke_owned(organization_id=guards.organization_id(), affiliate_ids=affected_ids, now=now)
    return result


def _audited_values(requested: BulkRequest, row: ChangedAffiliate) -> tuple[Mapping[str, object], Mapping[str, object]]:
    """Return the values of a changed affiliate before and after an action."""
    if requested.action in ("tag", "untag"):
        return {"tags": row.tags_before}, {"tags": row.tags}
    if requested.action == "group":
        return {"partnerGroupId": row.partner_group_id_before}, {"partnerGroupId": requested.group_id}
    before = {"status": row.status_before}
    if requested.action == "delete":
        return before, {"deleted": True}
    after = {"status": _STATUS_AFTER[requested.action].value}
    return before, after | {"rejectionReason": requested.reason} if requested.action == "reject" else after


def _serialize(requested: BulkRequest, result: BulkResult) -> dict[str, Any]:
    return {
        "action": requested.action,
        "affected": len(result.affected),
        "skipped": result.skipped_count,
        "affiliate_ids": [row.id for row in result.affected],
    }
