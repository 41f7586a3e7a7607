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
from pipelines.affiliates import joining, letters
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
    wanted = list(dict.fromkeys(affiliate_ids))
    place = {affiliate_id: number for number, affiliate_id in enumerate(wanted)}
    changed = sorted(_change(organization_id, action, wanted, now), key=lambda one: place[one.id])
    if action == "approve":
        letters.tell_approved(organization_id=organization_id, emails=[one.email for one in changed], now=now)
        matched = [one for one in changed if joining.is_match(source=one.source, approved_before=one.approved_before)]
        if matched:
            joining.tell_match(matched, organization_id=organization_id, now=now)
        for one in changed:
            emit.event(organization_id=organization_id, type="affiliate.approved", data=_approved(one), at=now)
    elif action == "delete":
        tracking_links.stage_retire_all(
            organization_id=organization_id, affiliate_ids=[one.id for one in changed], at=now
        )
    return BulkResult(affected=changed, skipped=len(wanted) - len(changed))


def _change(organization_id: UUID, action: str, wanted: Sequence[UUID], now: datetime) -> list[ChangedAffiliate]:
    if action == "approve":
        return bulk_actions.approve(organization_id=organization_id, affiliate_ids=wanted, at=now)
    if action == "pause":
        return bulk_actions.pause(organization_id=organization_id, affiliate_ids=wanted)
    return bulk_actions.delete(organization_id=organization_id, affiliate_ids=wanted, at=now)


def _approved(one: ChangedAffiliate) -> dict[str, Any]:
    assert one.approved_at is not None  # the update has set it
    return events.affiliate_approved(
        affiliate_id=one.id,
        program_id=one.program_id,
        email=one.email,
        full_name=one.full_name,
        approved_at=one.approved_at,
        application_answers=one.application_data,
    )
