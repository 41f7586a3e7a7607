"""One action on many affiliates. Affiliates that do not exist, or whose state does not allow it, are skipped.

Source: core spec, "Affiliates" (bulk-action) and section 3 (affiliate, bulk approve or bulk pause).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from domain.refusals import not_found
from models.affiliates import affiliates, bulk_actions, tracking_links
from models.affiliates.bulk_actions import ChangedAffiliate, SkippedAffiliate
from models.programs import partner_groups
from pipelines.affiliates import enrollment, status_emails
from pipelines.webhooks import emit

#: How many tags an affiliate may have.
MAX_TAGS = 50


@dataclass(frozen=True, slots=True)
class BulkRequest:
    """The action, and its value: the `tag` to add or remove, the group, or the reason of a rejection."""

    action: str
    affiliate_ids: Sequence[UUID]
    tag: str = ""
    group_id: UUID | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class BulkResult:
    """The affected affiliates, and the ids of the skipped ones, each in the order of the request."""

    affected: list[ChangedAffiliate]
    skipped_ids: list[UUID]

    @property
    def skipped_count(self) -> int:
        """How many were skipped."""
        return len(self.skipped_ids)


def run(organization_id: UUID, requested: BulkRequest, *, now: datetime) -> BulkResult:
    """Run an action: approve and reject Pending affiliates, pause Approved ones, tag, group or delete any.

    A repeated id counts once. Approvals send an event to the brand and an email to the affiliates; rejected applicants
    get one email. Deleting ends the links and keeps all earnings; the caller revokes the coupon codes.
    Raises Refused 404 not_found for the group.
    """
    ids = list(dict.fromkeys(requested.affiliate_ids))
    place = {affiliate_id: number for number, affiliate_id in enumerate(ids)}
    changed = sorted(_change(organization_id, requested, ids, now), key=lambda affiliate: place[affiliate.id])
    if requested.action == "approve":
        _announce_approved(organization_id, changed, now)
    elif requested.action == "reject":
        applicants = [affiliate for affiliate in changed if affiliate.is_first_rejection]
        status_emails.notify_rejected(organization_id=organization_id, applicants=applicants, now=now)
    elif requested.action == "delete":
        tracking_links.stage_retire_all(
            organization_id=organization_id, affiliate_ids=[affiliate.id for affiliate in changed], at=now
        )
    changed_ids = {affiliate.id for affiliate in changed}
    return BulkResult(changed, [affiliate_id for affiliate_id in ids if affiliate_id not in changed_ids])


def explain_skipped(organization_id: UUID, requested: BulkRequest, result: BulkResult) -> list[dict[str, object]]:
    """Return each skipped id with the reason: not_found, status, unchanged, other_program or too_many_tags.

    Budget: 1 round trip, none if none was skipped.
    """
    if not result.skipped_ids:
        return []
    rows = bulk_actions.list_skipped(organization_id=organization_id, affiliate_ids=result.skipped_ids)
    program_id = _find_program_id(organization_id, requested.group_id)
    return [
        {"id": affiliate_id, "reason": _reason(requested, rows.get(affiliate_id), program_id)}
        for affiliate_id in result.skipped_ids
    ]


def _reason(requested: BulkRequest, row: SkippedAffiliate | None, program_id: UUID | None) -> str:
    if row is None:
        return "not_found"
    if requested.action in ("approve", "reject", "pause"):
        return "status"
    if requested.action == "group" and program_id not in (None, row.program_id):
        return "other_program"
    if requested.action == "tag" and requested.tag not in row.tags:
        return "too_many_tags"
    return "unchanged"


def _announce_approved(organization_id: UUID, changed: Sequence[ChangedAffiliate], now: datetime) -> None:
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


def _change(
    organization_id: UUID, requested: BulkRequest, ids: Sequence[UUID], now: datetime
) -> list[ChangedAffiliate]:
    action = requested.action
    if action == "approve":
        return bulk_actions.approve(organization_id=organization_id, affiliate_ids=ids, at=now)
    if action == "reject":
        return bulk_actions.reject(organization_id=organization_id, affiliate_ids=ids, reason=requested.reason, at=now)
    if action == "pause":
        return bulk_actions.pause(organization_id=organization_id, affiliate_ids=ids)
    if action == "tag":
        return bulk_actions.tag(
            organization_id=organization_id, affiliate_ids=ids, tag=requested.tag, max_tags=MAX_TAGS
        )
    if action == "untag":
        return bulk_actions.untag(organization_id=organization_id, affiliate_ids=ids, tag=requested.tag)
    if action == "group":
        program_id = _find_program_id(organization_id, requested.group_id)
        if program_id is not None:
            affiliates.stage_program_share_lock(organization_id=organization_id, program_id=program_id)
        return bulk_actions.move_to_group(
            organization_id=organization_id, affiliate_ids=ids, group_id=requested.group_id, program_id=program_id
        )
    return bulk_actions.delete(organization_id=organization_id, affiliate_ids=ids, at=now)


def _find_program_id(organization_id: UUID, group_id: UUID | None) -> UUID | None:
    if group_id is None:
        return None
    program_id = partner_groups.find_program_id(organization_id=organization_id, group_id=group_id)
    if program_id is None:
        raise not_found("partner group", group_id)
    return program_id
