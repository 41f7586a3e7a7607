"""What people decide about a conversion: validate, invalidate, approve, deny; the override follows its sale.

Every row is given its status, its entry in the ledger and its event in one transaction. A row that stops earning
gives back what it still earned, a row that earns again gets that back, and then refunds that came meanwhile take their
share: the ledger always sums up to what the columns say.
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
from pipelines.conversions import settle
from pipelines.leads import lifecycle
from pipelines.payouts import take_back
from pipelines.webhooks import emit


@dataclass(frozen=True, slots=True)
class _Word:
    """What was decided: `id` is the cause that the ledger names."""

    id: UUID
    action: Action
    reason: str | None
    at: datetime


@dataclass(frozen=True, slots=True)
class Subject:
    """A conversion under review, locked; `parent` is the sale of an override, locked too, and None for a sale."""

    conversion: Conversion
    parent: Conversion | None


def lock(*, organization_id: UUID, conversion_id: UUID, now: datetime) -> Subject:
    """Lock a conversion for a decision. A sale that is accepted and not settled yet is settled first.

    Raises Refused 404 not_found.
    """
    advisory_locks.stage_shared_payout_run_lock(organization_id)
    settle.if_waiting(organization_id=organization_id, conversion_id=conversion_id, now=now)
    parent_id = reviews.parent_of(organization_id=organization_id, conversion_id=conversion_id)
    # The parent before its override, as everywhere.
    parent = conversions.lock(organization_id=organization_id, conversion_id=parent_id) if parent_id else None
    conversion = conversions.lock(organization_id=organization_id, conversion_id=conversion_id)
    if conversion is None:
        raise not_found("conversion", conversion_id)
    return Subject(conversion, parent)


def decide(subject: Subject, *, action: Action, reason: str | None, now: datetime) -> Conversion:
    """Take an action on a locked conversion and on its override; return the conversion as it is then.

    An override that is not written yet is born with its parent's status. One that waits for its sale's approval is
    released by it, and stays Pending until its own hold has passed.
    Raises Refused 409 invalid_status_transition, also for what the other of two at once has done.
    """
    conversion, parent = subject.conversion, subject.parent
    status = _next_status(action, conversion, parent)
    word = _Word(ids.new_id(), action, reason, now)
    after = _apply(word, conversion, status, parent or conversion)
    if action == Action.approve:
        after = dataclasses.replace(after, needs_approval=False)
    if parent is None:
        _apply_to_override(word, conversion)
    return after


def _next_status(action: Action, conversion: Conversion, parent: Conversion | None) -> ConversionStatus:
    status = review.next_status(action, conversion.status)
    if status is None:
        message = f"A conversion that is {conversion.status} cannot be {action}."
        raise Refused(409, "invalid_status_transition", message)
    if action == Action.validate and parent is not None and parent.status in EARNS_NOTHING:
        message = f"The conversion that this one belongs to is {parent.status}; it comes back with it."
        raise Refused(409, "invalid_status_transition", message)
    if action == Action.approve and conversion.payout_locked:
        raise Refused(409, "invalid_status_transition", "Locked history is never paid, so it cannot be approved.")
    return status


def _apply_to_override(word: _Word, parent: Conversion) -> None:
    override = conversions.lock_override(organization_id=parent.organization_id, parent_id=parent.id)
    if override is None:
        return
    if word.action == Action.approve and override.needs_approval:
        reviews.stage_approval_given(organization_id=override.organization_id, conversion_id=override.id)
    status = review.override_status(word.action, override.status)
    if status is not None:
        _apply(word, override, status, parent)


def _apply(word: _Word, conversion: Conversion, status: ConversionStatus, parent: Conversion) -> Conversion:
    """Stage one row's new status with its money and its event; `parent` is the row itself for a sale."""
    if conversion.status in EARNS_NOTHING and status not in EARNS_NOTHING:
        after = _restore(word, conversion, status, parent)
    else:
        after = _restate(word, conversion, status)
    if conversion.type == ConversionType.LeadReward and word.action in (Action.validate, Action.invalidate):
        lifecycle.follow_review(
            organization_id=conversion.organization_id,
            lead_id=conversion.id,
            is_valid=word.action == Action.validate,
            now=word.at,
        )
    emit.event(
        organization_id=conversion.organization_id,
        type=f"conversion.{word.action}",
        data=_payload(word, conversion, after),
        at=word.at,
    )
    return after


def _restate(word: _Word, conversion: Conversion, status: ConversionStatus) -> Conversion:
    """Stage another status; a row that stops earning gives back what it still earned."""
    reviews.stage_status(organization_id=conversion.organization_id, conversion_id=conversion.id, status=status.value)
    if status in EARNS_NOTHING and conversion.status not in EARNS_NOTHING:
        _adjust(word, conversion, -conversion.net_commission_cents)
        take_back.take_back_if_named(conversion, conversion.net_commission_cents, now=word.at)
    return dataclasses.replace(conversion, status=status.value)


def _restore(word: _Word, conversion: Conversion, status: ConversionStatus, parent: Conversion) -> Conversion:
    """Stage that a row earns again, at its own numbers, less what refunds took from it meanwhile."""
    _adjust(word, conversion, conversion.net_commission_cents)
    late_cents = _take_back_late(word, conversion, parent)
    settled = _settled(conversion, late_cents, status)
    reviews.stage_validated(
        organization_id=conversion.organization_id,
        conversion_id=conversion.id,
        status=settled.value,
        late_cents=late_cents,
    )
    after = dataclasses.replace(conversion, status=settled.value, reversed_cents=conversion.reversed_cents + late_cents)
    take_back.give_back_if_named(after, now=word.at)
    return after


def _settled(conversion: Conversion, late_cents: int, status: ConversionStatus) -> ConversionStatus:
    """Return the status of a row that earns again: what was paid for while it earned nothing is not due once more."""
    if conversion.refunded_at is not None:
        return ConversionStatus.Refunded
    is_paid = 0 < conversion.net_commission_cents - late_cents <= conversion.paid_cents
    return ConversionStatus.Paid if is_paid else status


def _take_back_late(word: _Word, conversion: Conversion, parent: Conversion) -> int:
    """Stage what refunds that came while the row earned nothing take back now; returns how much in all."""
    reached = reviews.reached(
        organization_id=conversion.organization_id, parent_id=parent.id, conversion_id=conversion.id
    )
    own = refunds.own(conversion)
    if own is not None and own.is_full:  # the refund of a share by itself takes what its sale's refunds leave
        reached = [AppliedRefund(own.id, cumulative_cents=0, is_full=True)]
    late = review.late_reversals(
        commission_cents=conversion.commission_cents,
        reversed_cents=conversion.reversed_cents,
        parent_amount_cents=parent.amount_cents,
        refunds=reached,
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
                conversions.NewLine(
                    organization_id=conversion.organization_id,
                    conversion_id=conversion.id,
                    event_type="adjustment",
                    amount_cents=0,
                    commission_cents=-cents,
                    occurred_at=word.at,
                )
            ]
        )
        kind = "reverse" if cents > 0 else "restore"
        entries.stage(conversion, kind=kind, amount_cents=-cents, cause_id=refund_id, created_at=word.at)
    return sum(cents for _, cents in late)


def _adjust(word: _Word, conversion: Conversion, cents: int) -> None:
    if conversion.payout_locked:
        return  # the ledger never had it
    entries.stage(conversion, kind="adjust", amount_cents=cents, cause_id=word.id, created_at=word.at)


def _payload(word: _Word, before: Conversion, after: Conversion) -> dict[str, object]:
    if word.action == Action.approve:
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
        reason=word.reason,
        attribution_method=after.attribution_method,
        parent_affiliate_conversion_id=after.parent_id,
    )
