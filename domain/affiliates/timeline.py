"""The events of an affiliate's timeline: what an audit entry or a row says, as a kind of event and its changes."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from domain.conversions.commission import CommissionType
from domain.statuses import AffiliateStatus


class EventKind(StrEnum):
    """What happened."""

    invited = "invited"
    applied = "applied"
    applied_again = "applied_again"
    application_completed = "application_completed"
    added = "added"
    imported = "imported"
    joined = "joined"
    approved = "approved"
    rejected = "rejected"
    paused = "paused"
    resumed = "resumed"
    banned = "banned"
    reopened = "reopened"
    changed = "changed"
    payout_account_changed = "payout_account_changed"
    tax_form_submitted = "tax_form_submitted"
    tax_form_read = "tax_form_read"
    first_click = "first_click"
    first_sale = "first_sale"
    payout_sent = "payout_sent"
    payout_paid = "payout_paid"
    payout_failed = "payout_failed"
    payout_voided = "payout_voided"
    payout_retried = "payout_retried"
    link_created = "link_created"
    link_deleted = "link_deleted"
    code_created = "code_created"
    code_revoked = "code_revoked"
    deal_offered = "deal_offered"
    deal_accepted = "deal_accepted"
    deal_declined = "deal_declined"
    deal_cancelled = "deal_cancelled"
    deal_charged = "deal_charged"
    deal_work_submitted = "deal_work_submitted"
    deal_work_approved = "deal_work_approved"
    deal_changes_requested = "deal_changes_requested"
    deal_disputed = "deal_disputed"
    deal_settled = "deal_settled"
    deal_refund_requested = "deal_refund_requested"


_BY_ACTION = {
    "affiliate.applied_again": EventKind.applied_again,
    "affiliate.application_completed": EventKind.application_completed,
    "payout_account.changed": EventKind.payout_account_changed,
    "tax_form.read": EventKind.tax_form_read,
}
#: The actions about an affiliate's links, codes, deals and payouts that are events of the affiliate.
OWNED_ACTIONS = {
    "tracking_link.created": EventKind.link_created,
    "tracking_link.deleted": EventKind.link_deleted,
    "affiliate_coupon.created": EventKind.code_created,
    "affiliate_coupon.revoked": EventKind.code_revoked,
    "deal.offered": EventKind.deal_offered,
    "deal.accepted": EventKind.deal_accepted,
    "deal.declined": EventKind.deal_declined,
    "deal.cancelled": EventKind.deal_cancelled,
    "deal.charged": EventKind.deal_charged,
    "deal.milestone_submitted": EventKind.deal_work_submitted,
    "deal.milestone_approved": EventKind.deal_work_approved,
    "deal.changes_requested": EventKind.deal_changes_requested,
    "deal.disputed": EventKind.deal_disputed,
    "deal.settled": EventKind.deal_settled,
    "deal.refund_asked": EventKind.deal_refund_requested,
    "payout.retry": EventKind.payout_retried,
}
_BY_STATUS = {
    AffiliateStatus.Approved: EventKind.resumed,
    AffiliateStatus.Rejected: EventKind.rejected,
    AffiliateStatus.Paused: EventKind.paused,
    AffiliateStatus.Banned: EventKind.banned,
    AffiliateStatus.Pending: EventKind.reopened,
}
_UNDECIDED = (AffiliateStatus.Pending, AffiliateStatus.Rejected)
# Fields whose values are shown, and those of which only the change is.
_SHOWN, _HIDDEN = ("fullName", "tags"), ("notes",)


@dataclass(frozen=True, slots=True)
class FieldChange:
    """A changed field with both values as text; None is no value, or one that is not shown."""

    field: str
    before: str | None = None
    after: str | None = None


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """An event as it is stored: an audit entry (`kind` is its action), or a time of a row (`kind` is an EventKind).

    `group_before` and `group_after` are names of groups; a deleted group has none. `reason` is why a payout failed.
    `subject` is the slug of a link, a code, or the title of a deal.
    """

    id: UUID
    at: datetime
    kind: str
    actor_type: str | None
    actor_label: str | None
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None
    group_before: str | None
    group_after: str | None
    payout_id: UUID | None
    conversion_id: UUID | None
    amount_cents: int | None
    currency: str | None
    reason: str | None
    subject: str | None


def find_kind(event: StoredEvent) -> EventKind:
    """Return the kind of a stored event: of an audit entry by its action and the change of the status."""
    kind = _BY_ACTION.get(event.kind) or OWNED_ACTIONS.get(event.kind)
    if kind:
        return kind
    if "." not in event.kind:
        return EventKind(event.kind)
    before, after = (event.before or {}).get("status"), (event.after or {}).get("status")
    if before == after or after not in _BY_STATUS:
        return EventKind.changed
    if after == AffiliateStatus.Approved and before in _UNDECIDED:
        return EventKind.approved
    return _BY_STATUS[AffiliateStatus(after)]


def find_reason(event: StoredEvent) -> str | None:
    """Return why a payout failed or an application was rejected."""
    return event.reason or (event.after or {}).get("rejectionReason")


def list_changes(event: StoredEvent) -> list[FieldChange]:
    """Return the changed fields of an audit entry, without the status."""
    before, after = event.before or {}, event.after or {}
    if event.kind in OWNED_ACTIONS:
        return []
    if event.kind.startswith("payout_account."):
        values = before.get("method"), after.get("method")
        return [FieldChange("payoutMethod", *values)] if values[0] != values[1] else []
    return list(_list_changes(event, before, after))


def _list_changes(event: StoredEvent, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[FieldChange]:
    changed = {name for name in before.keys() & after.keys() if before[name] != after[name]}
    if changed & {"customCommissionType", "customCommissionValue"}:
        yield FieldChange("commission", _describe_rate(before), _describe_rate(after))
    if "partnerGroupId" in changed:
        yield FieldChange("partnerGroup", event.group_before, event.group_after)
    for name in _SHOWN:
        if name in changed:
            yield FieldChange(name, _to_text(before[name]), _to_text(after[name]))
    yield from (FieldChange(name) for name in _HIDDEN if name in changed)


def _describe_rate(values: Mapping[str, Any]) -> str | None:
    kind, value = values.get("customCommissionType"), values.get("customCommissionValue")
    if kind is None or value is None:
        return None
    return f"{value} %" if kind == CommissionType.Percentage else f"{value} per sale"


def _to_text(value: Any) -> str | None:
    return (", ".join(value) if isinstance(value, list) else str(value)) or None
