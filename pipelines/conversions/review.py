"""Decisions of users about a conversion: validate, invalidate, approve, deny; the override follows its sale.

Every row gets its status, ledger entry and event in one transaction. A row that stops earning loses its remaining
commission; a row that earns again regains it, less the refunds that were accepted in between. So the ledger always
equals the columns.
Source: core spec, section 3 "States"; tracking spec, section 3 and section 6.
"""

import dataclasses
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from domain.conversions import review
from domain.conversions.review import Action, AppliedRefund
from domain.refusals import Refused, not_found
from domain.statuses import EARNS_NOTHING, ConversionStatus, ConversionType
from domain.webhooks import events
from models import advisory_locks, ids
from models.conversions import conversions, refunds, reviews
from models.conversions.conversions import Conversion
from models.ledger import entries
from pipelines.conversions import settlement
from pipelines.leads import lifecycle
from pipelines.payouts import take_back
from pipelines.webhooks import emit


@dataclass(frozen=True, slots=True)
class _Decision:
    """A decision: `id` is the cause in its ledger entries."""

    id: UUID
    action: Action
    reason: str | None
    at: datetime


@dataclass(frozen=True, slots=True)
class ReviewedConversion:
    """A conversion under review, locked; `parent` is the sale of an override, locked too, and None for a sale."""

    conversion: Conversion
    parent: Conversion | None


def lock(*, organization_id: UUID, conversion_id: UUID, now: datetime) -> ReviewedConversion:
    """Lock a conversion for a decision. A sale that is accepted and not settled yet is settled first.

    Raises Refused 404 not_found.
    """
    advisory_locks.stage_shared_payout_run_lock(organization_id)
    settlement.settle_if_waiting(organization_id=organization_id, conversion_id=conversion_id, now=now)
    parent_id = reviews.find_parent(organization_id=organization_id, conversion_id=conversion_id)
    # The parent before its override: the lock order.
    parent = conversions.lock(organization_id=organization_id, conversion_id=parent_id) if parent_id else None
    conversion = conversions.lock(organization_id=organization_id, conversion_id=conversion_id)
    if conversion is None:
        raise not_found("conversion", conversion_id)
    return ReviewedConversion(conversion, parent)


def decide(subject: ReviewedConversion, *, action: Action, reason: str | None, now: datetime) -> Conversion:
    """Take an action on a locked conversion and on its override; return the conversion after it.

    An override that is not written yet starts with its parent's status. An override that waited for its
    sale's approval no longer waits, but stays Pending until its own hold has passed.
    Raises Refused 409 invalid_status_transition, also if a concurrent request has just decided.
    """
    conversion, parent = subject.conversion, subject.parent
    status = _next_status(action, conversion, parent)
    decision = _Decision(ids.new_id(), action, reason, now)
    after = _apply(decision, conversion, status, parent or conversion)
    if action == Action.approve:
        after = dataclasses.replace(after, needs_approval=False)
    if parent is None:
        _apply_to_override(decision, conversion)
    return after


def _next_status(action: Action, conversion: Conversion, parent: Conversion | None) -> ConversionStatus:
    status = review.next_status(action, conversion.status)
    if status is None:
        message = f"A conversion that is {conversion.status} cannot be {action}."
        raise Refused(409, "invalid_status_transition", message)
    if action == Action.validate and parent is not None and parent.status in EARNS_NOTHING:
        message = f"This override's sale is {parent.status}; validate the sale, and the override follows."
        raise Refused(409, "invalid_status_transition", message)
    if action == Action.approve and conversion.payout_locked:
        raise Refused(409, "invalid_status_transition", "Locked history is never paid, so it cannot be approved.")
    return status


def _apply_to_override(decision: _Decision, parent: Conversion) -> None:
    override = conversions.lock_override(organization_id=parent.organization_id, parent_id=parent.id)
    if override is None:
        return
    if decision.action == Action.approve and override.needs_approval:
        reviews.stage_approval(organization_id=override.organization_id, conversion_id=override.id)
    status = review.override_status(decision.action, override.status)
    if status is not None:
        _apply(decision, override, status, parent)


def _apply(decision: _Decision, conversion: Conversion, status: ConversionStatus, parent: Conversion) -> Conversion:
    """Stage one row's new status with its ledger entries and event; `parent` is the row itself for a sale."""
    if conversion.status in EARNS_NOTHING and status not in EARNS_NOTHING:
        after = _restore_earning(decision, conversion, status, parent)
    else:
        after = _set_status(decision, conversion, status)
    if conversion.type == ConversionType.LeadReward and decision.action in (Action.validate, Action.invalidate):
        lifecycle.apply_review(
            organization_id=conversion.organization_id,
            lead_id=conversion.id,
            is_valid=decision.action == Action.validate,
            now=decision.at,
        )
    emit.event(
        organization_id=conversion.organization_id,
        type=f"conversion.{decision.action}",
        data=_payload(decision, conversion, after),
        at=decision.at,
    )
    return after


def _set_status(decision: _Decision, conversion: Conversion, status: ConversionStatus) -> Conversion:
    """Stage another status; a row that stops earning loses its remaining commission."""
    reviews.stage_status(organization_id=conversion.organization_id, conversion_id=conversion.id, status=status.value)
    if status in EARNS_NOTHING and conversion.status not in EARNS_NOTHING:
        _stage_entry(decision, conversion, -conversion.net_commission_cents)
        take_back.take_back_if_in_payout(conversion, conversion.net_commission_cents, now=decision.at)
    return dataclasses.replace(conversion, status=status.value)


def _restore_earning(
    decision: _Decision, conversion: Conversion, status: ConversionStatus, parent: Conversion
) -> Conversion:
    """Stage the amounts of a row that earns again: its commission less the refunds accepted while it did not earn."""
    _stage_entry(decision, conversion, conversion.net_commission_cents)
    late_cents = _stage_late_reversals(decision, conversion, parent)
    status_after = _status_after(conversion, late_cents, status)
    reviews.stage_validation(
        organization_id=conversion.organization_id,
        conversion_id=conversion.id,
        status=status_after.value,
        late_cents=late_cents,
    )
    after = dataclasses.replace(
        conversion, status=status_after.value, reversed_cents=conversion.reversed_cents + late_cents
    )
    take_back.give_back_if_in_payout(after, now=decision.at)
    return after


def _status_after(conversion: Conversion, late_cents: int, status: ConversionStatus) -> ConversionStatus:
    """Return the status of a row that earns again: Paid if its commission was already paid, so it is not due twice."""
    if conversion.refunded_at is not None:
        return ConversionStatus.Refunded
    is_paid = 0 < conversion.net_commission_cents - late_cents <= conversion.paid_cents
    return ConversionStatus.Paid if is_paid else status


def _stage_late_reversals(decision: _Decision, conversion: Conversion, parent: Conversion) -> int:
    """Stage the reversals of refunds accepted while the row earned nothing; return their sum."""
    applied = reviews.list_applied_refunds(
        organization_id=conversion.organization_id, parent_id=parent.id, conversion_id=conversion.id
    )
    own = refunds.find_own(conversion)
    if own is not None and own.is_full:  # a full refund of the override itself reverses what its sale's refunds leave
        applied = [AppliedRefund(own.id, cumulative_cents=0, is_full=True)]
    late = review.list_late_reversals(
        commission_cents=conversion.commission_cents,
        reversed_cents=conversion.reversed_cents,
        parent_amount_cents=parent.amount_cents,
        refunds=applied,
    )
    for refund_id, cents in late:
        reviews.stage_late_reversal(
            organization_id=conversion.organization_id,
            refund_id=refund_id,
            conversion_id=conversion.id,
            cents=cents,
        )
        conversions.stage_history(
            [
                conversions.NewHistoryLine(
                    organization_id=conversion.organization_id,
                    conversion_id=conversion.id,
                    event_type="adjustment",
                    amount_cents=0,
                    commission_cents=-cents,
                    occurred_at=decision.at,
                )
            ]
        )
        kind = "reverse" if cents > 0 else "restore"
        entries.stage(conversion, kind=kind, amount_cents=-cents, cause_id=refund_id, created_at=decision.at)
    return sum(cents for _, cents in late)


def _stage_entry(decision: _Decision, conversion: Conversion, cents: int) -> None:
    if conversion.payout_locked:
        return  # locked history has no ledger entries
    entries.stage(conversion, kind="adjust", amount_cents=cents, cause_id=decision.id, created_at=decision.at)


def _payload(decision: _Decision, before: Conversion, after: Conversion) -> dict[str, object]:
    if decision.action == Action.approve:
        return {"conversionId": str(after.id)}
    return events.conversion_reviewed(
        conversion_id=after.id,
        affiliate_id=after.affiliate_id,
        program_id=after.program_id,
        amount_cents=after.amount_cents,
        currency=after.currency,
        commission_cents=after.net_commission_cents,
        status=after.status,
        previous_status=before.status,
        reason=decision.reason,
        attribution_method=after.attribution_method,
        parent_affiliate_conversion_id=after.parent_id,
    )
