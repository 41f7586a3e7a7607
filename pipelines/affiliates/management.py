"""A brand's decisions about one affiliate: changes, approval, rejection.

All of them start with the affiliate's row lock, so of two concurrent ones the second sees the result of the first.
Source: core spec, "Affiliates" and section 3 (affiliate).
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from domain.refusals import Refused, not_found
from domain.statuses import AffiliateStatus
from models.affiliates import affiliates
from models.affiliates.affiliates import Affiliate
from models.programs import programs
from pipelines.affiliates import enrollment, status_emails
from pipelines.payouts import decisions
from pipelines.webhooks import emit


def find(*, organization_id: UUID, affiliate_id: UUID) -> Affiliate:
    """Return an affiliate of the organization or refuse with 404 not_found."""
    affiliate = affiliates.find(organization_id=organization_id, affiliate_id=affiliate_id)
    if affiliate is None:
        raise not_found("affiliate", affiliate_id)
    return affiliate


def lock(*, organization_id: UUID, affiliate_id: UUID) -> Affiliate:
    """Like `find`, locked until the transaction ends."""
    affiliate = affiliates.lock(organization_id=organization_id, affiliate_id=affiliate_id)
    if affiliate is None:
        raise not_found("affiliate", affiliate_id)
    return affiliate


def lock_for_changes(*, affiliate: Affiliate, changes: Mapping[str, Any]) -> Affiliate:
    """Lock an affiliate for these changes; lock the program first if its terms or groups matter (the usual order)."""
    if any(changes.get(name) for name in ("partner_group_id", "custom_commission_type")) or (
        "custom_commission_value" in changes
    ):
        affiliates.stage_program_share_lock(organization_id=affiliate.organization_id, program_id=affiliate.program_id)
    return lock(organization_id=affiliate.organization_id, affiliate_id=affiliate.id)


def change(*, affiliate: Affiliate, changes: Mapping[str, Any], now: datetime) -> Affiliate:
    """Change columns of a locked affiliate and return the new row; any status may become any other.

    `changes` is `AffiliateChanges` loaded. An approval sends an event to the brand; the first one also an email to the
    affiliate, and an event for a match in the network. An applicant who is rejected gets one email. A ban voids
    payouts that were not sent.
    Raises Refused: 404 not_found for the partner group; what `terms.check_rate` raises.
    """
    _check_group(affiliate, changes.get("partner_group_id"))
    implied = {**_rate_columns(affiliate, changes), **_status_columns(affiliate, changes, now)}
    changed = affiliates.change(affiliate, {**changes, **implied})
    if changed.status == affiliate.status:
        return changed
    if changed.status == AffiliateStatus.Approved:
        if enrollment.is_network_match(source=changed.source, approved_at_before=affiliate.approved_at):
            enrollment.emit_matches([changed], organization_id=changed.organization_id, now=now)
        _emit_approved(changed, now)
        if affiliate.approved_at is None:
            status_emails.notify_approved(organization_id=changed.organization_id, emails=[changed.email], now=now)
    if _rejects_application(affiliate, changed.status):
        status_emails.notify_rejected(organization_id=changed.organization_id, applicants=[changed], now=now)
    if changed.status == AffiliateStatus.Banned:
        decisions.void_of_affiliate(organization_id=changed.organization_id, affiliate_id=changed.id, now=now)
    return changed


def approve(*, affiliate: Affiliate, now: datetime) -> Affiliate:
    """Approve a locked affiliate, send the event and return the new row; an Approved one is returned unchanged.

    Raises Refused: 409 invalid_status_transition from Paused and Banned.
    """
    if affiliate.status == AffiliateStatus.Approved:
        return affiliate
    _check_status(affiliate, "approved", AffiliateStatus.Pending, AffiliateStatus.Rejected)
    return change(affiliate=affiliate, changes={"status": AffiliateStatus.Approved.value}, now=now)


def reject(*, affiliate: Affiliate, reason: str | None, now: datetime) -> Affiliate:
    """Reject a locked affiliate's application, send one email and return the new row.

    Raises Refused: 409 invalid_status_transition from every status but Pending.
    """
    _check_status(affiliate, "rejected", AffiliateStatus.Pending)
    changes = {"status": AffiliateStatus.Rejected.value, "rejection_reason": reason}
    return change(affiliate=affiliate, changes=changes, now=now)


def _rejects_application(before: Affiliate, status: str) -> bool:
    """Return whether this status change rejects an application that was neither accepted nor rejected before.

    An affiliate who was approved once is no applicant, and a second rejection email would say nothing new.
    """
    is_waiting = before.status == AffiliateStatus.Pending and before.approved_at is None
    return is_waiting and status == AffiliateStatus.Rejected and before.rejection_mailed_at is None


def _emit_approved(affiliate: Affiliate, now: datetime) -> None:
    data = enrollment.approved_data(affiliate)
    emit.event(organization_id=affiliate.organization_id, type="affiliate.approved", data=data, at=now)


def _check_status(affiliate: Affiliate, target: str, *allowed: AffiliateStatus) -> None:
    if affiliate.status not in allowed:
        message = f"An affiliate who is {affiliate.status} cannot be {target}."
        raise Refused(409, "invalid_status_transition", message)


def _check_group(affiliate: Affiliate, group_id: UUID | None) -> None:
    if group_id is None:
        return
    if not affiliates.has_group(
        organization_id=affiliate.organization_id, program_id=affiliate.program_id, group_id=group_id
    ):
        raise not_found("partner group", group_id)


def _rate_columns(affiliate: Affiliate, changes: Mapping[str, Any]) -> dict[str, str | None]:
    """Check a requested rate and return the column that goes with it: the currency of a Fixed one."""
    if "custom_commission_type" not in changes:
        return {}
    if changes["custom_commission_type"] is None:
        return {"custom_commission_currency": None}
    program = programs.find(organization_id=affiliate.organization_id, program_id=affiliate.program_id)
    assert program is not None  # it has this affiliate
    return {"custom_commission_currency": enrollment.check_rate(program, changes)}


def _status_columns(affiliate: Affiliate, changes: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    status = changes.get("status", affiliate.status)
    columns: dict[str, Any] = {}
    if status != AffiliateStatus.Rejected:
        columns["rejection_reason"] = None
    if status == AffiliateStatus.Approved and affiliate.approved_at is None:
        columns["approved_at"] = now
    if _rejects_application(affiliate, status):
        columns["rejection_mailed_at"] = now
    return columns
