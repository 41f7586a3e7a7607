"""One action on many affiliates. Affiliates that do not exist, or whose status does not allow it, are skipped.

Source: core spec, "Affiliates" (bulk-action) and section 3 (affiliate, bulk approve or bulk pause).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from models.affiliates import bulk_actions, tracking_links
from models.affiliates.bulk_actions import ChangedAffiliate
from pipelines.affiliates import enrollment, status_emails
from pipelines.webhooks import emit


@dataclass(frozen=True, slots=True)
class BulkResult:
    """The affected affiliates, in the order of the request, and how many were skipped."""

    affected: list[ChangedAffiliate]
    skipped: int


def run(*, organization_id: UUID, action: str, affiliate_ids: Sequence[UUID], now: datetime) -> BulkResult:
    """Approve Pending affiliates, pause Approved ones, or delete any; a repeated id counts once.

    Approvals send an event to the brand and an email to the affiliates. Deleting ends the links and keeps all earnings;
    the caller revokes the coupon codes.
    """
    ids = list(dict.fromkeys(affiliate_ids))
    place = {affiliate_id: number for number, affiliate_id in enumerate(ids)}
    changed = sorted(_change(organization_id, action, ids, now), key=lambda affiliate: place[affiliate.id])
    if action == "approve":
        status_emails.notify_approved(
            organization_id=organization_id, emails=[affiliate.email for affiliate in changed], now=now
        )
        matched = [
            affiliate
            for affiliate in changed
            if enrollment.is_network_match(source=affiliate.source, approved_at_before=affiliate.approved_at_before)
        ]
        if matched:
            enrollment.emit_matches(matched, organization_id=organization_id, now=now)
        for affiliate in changed:
            emit.event(
                organization_id=organization_id,
                type="affiliate.approved",
                data=enrollment.approved_data(affiliate),
                at=now,
            )
    elif action == "delete":
        tracking_links.stage_retire_all(
            organization_id=organization_id, affiliate_ids=[affiliate.id for affiliate in changed], at=now
        )
    return BulkResult(affected=changed, skipped=len(ids) - len(changed))


def _change(organization_id: UUID, action: str, ids: Sequence[UUID], now: datetime) -> list[ChangedAffiliate]:
    if action == "approve":
        return bulk_actions.approve(organization_id=organization_id, affiliate_ids=ids, at=now)
    if action == "pause":
        return bulk_actions.pause(organization_id=organization_id, affiliate_ids=ids)
    return bulk_actions.delete(organization_id=organization_id, affiliate_ids=ids, at=now)
