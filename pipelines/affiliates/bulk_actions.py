"""One decision about many affiliates. Affiliates who are not there, or not in the status for it, are left alone.

Source: core spec, "Affiliates" (bulk-action) and section 3 (affiliate, bulk approve or bulk pause).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from domain.webhooks import events
from models.affiliates import bulk_actions, tracking_links
from models.affiliates.bulk_actions import ChangedAffiliate
from pipelines.affiliates import enrollment, status_emails
from pipelines.webhooks import emit


@dataclass(frozen=True, slots=True)
class BulkResult:
    """Whom the action took, in the order in which they were named, and how many it left alone."""

    affected: list[ChangedAffiliate]
    skipped: int


def run(*, organization_id: UUID, action: str, affiliate_ids: Sequence[UUID], now: datetime) -> BulkResult:
    """Approve those who are Pending, pause those who are Approved, or delete any; an id named twice counts once.

    Approvals are told to the brand and to those approved. Deleting ends the links and keeps everything that was earned;
    to end the codes is the caller's.
    """
    ids = list(dict.fromkeys(affiliate_ids))
    place = {affiliate_id: number for number, affiliate_id in enumerate(ids)}
    changed = sorted(_change(organization_id, action, ids, now), key=lambda one: place[one.id])
    if action == "approve":
        status_emails.notify_approved(organization_id=organization_id, emails=[one.email for one in changed], now=now)
        matched = [
            one
            for one in changed
            if enrollment.is_network_match(source=one.source, approved_before=one.approved_before)
        ]
        if matched:
            enrollment.emit_matches(matched, organization_id=organization_id, now=now)
        for one in changed:
            emit.event(organization_id=organization_id, type="affiliate.approved", data=_approved_data(one), at=now)
    elif action == "delete":
        tracking_links.stage_retire_all(
            organization_id=organization_id, affiliate_ids=[one.id for one in changed], at=now
        )
    return BulkResult(affected=changed, skipped=len(ids) - len(changed))


def _change(organization_id: UUID, action: str, ids: Sequence[UUID], now: datetime) -> list[ChangedAffiliate]:
    if action == "approve":
        return bulk_actions.approve(organization_id=organization_id, affiliate_ids=ids, at=now)
    if action == "pause":
        return bulk_actions.pause(organization_id=organization_id, affiliate_ids=ids)
    return bulk_actions.delete(organization_id=organization_id, affiliate_ids=ids, at=now)


def _approved_data(affiliate: ChangedAffiliate) -> dict[str, Any]:
    assert affiliate.approved_at is not None  # the update has set it
    return events.affiliate_approved(
        affiliate_id=affiliate.id,
        program_id=affiliate.program_id,
        email=affiliate.email,
        full_name=affiliate.full_name,
        approved_at=affiliate.approved_at,
        application_answers=affiliate.application_data,
    )
