"""Sends payouts to rails and records the answers: paid or failed.

The rail is never called inside a transaction. The request is written and committed first, under a key that stays the
same until the rail has refused it finally, so a crash at any point leads to a look-up and never to a second payment.
Several payouts of one organization are prepared together and recorded together; the rail is called for each alone.
Source: core spec, "Payouts" and section 3 (Payout); tracking spec, section 6, payout.paid, payout.failed and
milestone.released.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

import structlog

import settings
from adapters.rails import base
from domain.deals import events as deal_events
from domain.payouts import events, reversal, transfers
from domain.payouts.states import AttemptState, PayoutStatus, ReviewStatus
from domain.payouts.transfers import Accepted, Answer, NotFound, Paid, Rejected, Unknown
from models.deals import deals, escrow, milestones, releases
from models.payouts import attempts, lines, payouts, rail_events
from models.payouts.payouts import PaidPayout, Payout
from pipelines import restore_guard
from pipelines.payouts import rails
from pipelines.webhooks import emit
from pipelines.work import GiveUp, TryAgain

_log = structlog.get_logger(__name__)

# Until a rail is configured for its method, a payout waits this long between checks.
_RAIL_MISSING_DELAY = timedelta(hours=1)
_DOUBTFUL_DELAY = timedelta(hours=1)
_MISCONFIGURED_DELAY = timedelta(minutes=10)

_UNSETTLED = (PayoutStatus.Pending, PayoutStatus.Processing)

NOTHING_LEFT = "nothing_left_to_pay"


@dataclass(frozen=True, slots=True)
class PreparedTransfer:
    """A request to a rail. `age` is the time since its first request, then the payment is looked up; None: not sent.

    `books` are the rail's books that may hold the transfer; `is_new_to_books`: they got no request for it before.
    """

    payout: Payout
    transfer: transfers.Transfer
    rail: base.Rail
    age: timedelta | None
    call_count: int
    books: str
    is_new_to_books: bool


@dataclass(frozen=True, slots=True)
class Misconfigured:
    """The rail refused our credentials; no money moved."""

    why: str


def prepare(*, organization_id: UUID, payout_ids: Sequence[UUID], now: datetime) -> list[PreparedTransfer | None]:
    """Write down the requests to rails for payouts; None where there is nothing to send.

    Raises TryAgain while one of them has to wait: for its hold to pass, for a rail to be configured, or for an operator
    after a restore (`restore_guard`).
    Budget: 1 round trip for any number that is sent for the first time.
    """
    locked = payouts.lock_to_send(organization_id=organization_id, payout_ids=payout_ids)
    if any(payout.status in _UNSETTLED for payout in locked.values()):
        restore_guard.check(now)
    prepared = [_prepare_one(locked.get(payout_id), now) for payout_id in payout_ids]
    first = [each for each in prepared if each is not None and each.age is None]
    if first:
        attempts.stage_intents([(each.payout, each.transfer.key, each.books, each.transfer.labels) for each in first])
        payouts.stage_submitted([each.payout for each in first], at=now)
    return prepared


def _prepare_one(payout: Payout | None, now: datetime) -> PreparedTransfer | None:
    if payout is None or payout.status not in _UNSETTLED:
        return None
    if payout.status == PayoutStatus.Processing:
        return _prepare_look_up(payout, now)
    if payout.review_status in (ReviewStatus.Pending, ReviewStatus.Rejected) or payout.exported_at is not None:
        return None
    if payout.hold_until is not None and payout.hold_until > now:
        raise TryAgain(at=payout.hold_until, why="the payout is held until then")
    if payout.amount_cents <= 0:
        reason = "All its commissions were reversed before it was sent."
        fail(payout, code=NOTHING_LEFT, reason=reason, now=now)
        return None
    _check_not_paid(payout, now)
    rail = _choose_rail(payout, now)
    request = _build_request(
        payout, transfers.idempotency_key(payout_id=payout.id, attempt=payout.attempt), rails.build_labels(payout)
    )
    return PreparedTransfer(payout, request, rail, age=None, call_count=0, books=rail.books, is_new_to_books=True)


def withdraw(prepared: Sequence[PreparedTransfer]) -> None:
    """Withdraw prepared transfers whose rails were not called: each is as before it was prepared.

    Payouts that were settled in the meantime, or that another job is about to send, stay as they are.
    """
    where = {"organization_id": prepared[0].payout.organization_id}
    locked = payouts.lock_all(**where, payout_ids=[each.payout.id for each in prepared])
    waiting = [each for each in prepared if _awaits_answer(locked.get(each.payout.id), each.payout.attempt)]
    if first := [each.payout for each in waiting if each.age is None]:
        attempts.stage_withdrawal(first)
    for each in waiting:
        if each.age is not None and each.is_new_to_books:
            attempts.stage_no_books(each.payout, request_count=each.call_count)


def must_be_sent(prepared: PreparedTransfer) -> bool:
    """Return whether a prepared transfer must still be sent, and no other job started that. Budget: 1 round trip."""
    return attempts.is_unchanged(prepared.payout, request_count=prepared.call_count, is_intent=prepared.age is None)


def _prepare_look_up(payout: Payout, now: datetime) -> PreparedTransfer:
    attempt = attempts.find_current(payout)
    if attempt is None:
        raise GiveUp(f"payout {payout.id} is Processing and was never sent to a rail")
    rail = _choose_rail(payout, now)
    if attempt.state == AttemptState.intent:
        attempts.stage_in_doubt(payout)
    if attempt.books is None:
        attempts.stage_books(payout, rail.books)
    return PreparedTransfer(
        payout,
        _build_request(payout, attempt.key, attempt.labels or {}),
        rail,
        age=attempt.age,
        call_count=attempt.asked,
        books=attempt.books or rail.books,
        is_new_to_books=attempt.books is None,
    )


def _check_not_paid(payout: Payout, now: datetime) -> None:
    """Raise TryAgain for a payout whose earlier attempt was paid after all, as its rail reports."""
    if payout.attempt > 1 and rail_events.has_paid_event(organization_id=payout.organization_id, payout_id=payout.id):
        _log.error("payout.doubtful", payout=str(payout.id))
        raise TryAgain(
            at=now + _DOUBTFUL_DELAY, why="its rail reports that an earlier attempt was paid; an operator decides"
        )


def _choose_rail(payout: Payout, now: datetime) -> base.Rail:
    try:
        return rails.choose(payout, now=now)
    except base.RailMissing as missing:
        _log.warning("payout.no_rail", payout=str(payout.id), method=payout.method)
        raise TryAgain(at=now + _RAIL_MISSING_DELAY, why=f"no payout rail: {missing}") from missing


def _build_request(payout: Payout, key: str, labels: Mapping[str, str]) -> transfers.Transfer:
    return transfers.Transfer(
        key=key,
        payout_id=payout.id,
        organization_id=payout.organization_id,
        attempt=payout.attempt,
        amount_cents=payout.amount_cents,
        currency=payout.currency,
        destination=transfers.Destination(transfers.Method(payout.method), payout.destination),
        known=payout.references,
        labels=labels,
    )


def call(prepared: PreparedTransfer) -> Answer | Misconfigured:
    """Call the rail; never inside a transaction. Raises GiveUp where an operator has to check something first."""
    try:
        if prepared.age is None:
            return prepared.rail.send(prepared.transfer)
        return base.resolve(prepared.rail, prepared.transfer, age=prepared.age, books=prepared.books)
    except base.RailMisconfigured as error:
        return Misconfigured(str(error))
    except base.KeyTaken as error:
        raise GiveUp(f"the rail has this payout's key for another payment: {error}") from error


def record(
    answered: Sequence[tuple[PreparedTransfer, Answer | Misconfigured]], *, now: datetime
) -> list[datetime | None]:
    """Record the answers of rails about payouts of one organization.

    Return when to call the rail again for each, None when it is settled. All paid ones are booked in the same few
    statements. Budget: 1 round trip, plus those of failed payouts and of payouts that pay a milestone.
    """
    locked = _lock_again(answered)
    retry_times: list[datetime | None] = []
    payments = []
    for prepared, answer in answered:
        payout = locked.get(prepared.payout.id)
        if payout is not None and isinstance(answer, Paid):
            if _awaits_answer(payout, prepared.payout.attempt):
                payments.append(PaidPayout(payout, payout.method, answer.references))
            retry_times.append(None)
        else:
            retry_times.append(_settle_and_schedule(payout, prepared, answer, now))
    _settle_paid(payments, now)
    return retry_times


def _settle_and_schedule(
    payout: Payout | None, prepared: PreparedTransfer, answer: Answer | Misconfigured, now: datetime
) -> datetime | None:
    if payout is None or not settle(payout, prepared.payout.attempt, answer, now=now):
        return None
    if isinstance(answer, Misconfigured):
        if prepared.is_new_to_books:
            attempts.stage_no_books(prepared.payout, request_count=prepared.call_count + 1)
        return now + _MISCONFIGURED_DELAY
    delays_s = settings.current().rails.ask_again_s
    return now + timedelta(seconds=delays_s[min(prepared.call_count, len(delays_s) - 1)])


def _lock_again(answered: Sequence[tuple[PreparedTransfer, Answer | Misconfigured]]) -> dict[UUID, Payout]:
    where = {"organization_id": answered[0][0].payout.organization_id}
    final = [prepared.payout for prepared, answer in answered if isinstance(answer, Paid | Rejected)]
    if final:
        lines.stage_conversions_lock(**where, payout_ids=[payout.id for payout in final])
    if of_deals := [payout.id for payout in final if payout.milestone_id is not None]:
        deals.stage_lock_of_payouts(**where, payout_ids=of_deals)
    return payouts.lock_all(**where, payout_ids=[prepared.payout.id for prepared, _ in answered])


def _awaits_answer(payout: Payout | None, attempt: int) -> bool:
    """Return whether a payout exists and waits for the answer to this attempt."""
    return payout is not None and payout.status == PayoutStatus.Processing and payout.attempt == attempt


def settle(payout: Payout, attempt: int, answer: Answer | Misconfigured, *, now: datetime) -> bool:
    """Stage an answer to one attempt of a locked payout; return whether the rail has to be called again.

    Paid and Rejected need its conversions locked, too. An answer to a finished attempt changes nothing: answers may
    arrive twice, late and in any order.
    """
    if not _awaits_answer(payout, attempt):
        return False
    match answer:
        case Paid(references):
            _settle_paid([PaidPayout(payout, payout.method, references)], now)
            return False
        case Rejected(code, message):
            attempts.stage_answer([payout], state=AttemptState.rejected, detail=message, at=now)
            fail(payout, code=code, reason=message, now=now)
            return False
        case Accepted(references):
            attempts.stage_answer([payout], state=AttemptState.accepted, detail=None, at=now)
            if references:
                payouts.stage_change(payout, **payouts.reference_columns(references))
            return True
        case Unknown(why) | Misconfigured(why):
            attempts.stage_answer([payout], state=AttemptState.unknown, detail=why, at=now)
            return True
        case NotFound():
            attempts.stage_answer([payout], state=AttemptState.unknown, detail="the rail does not know the key", at=now)
            return True


def _settle_paid(payments: Sequence[PaidPayout], now: datetime) -> None:
    if payments:
        attempts.stage_answer([payment.payout for payment in payments], state=AttemptState.paid, detail=None, at=now)
        mark_paid(payments, now=now)


def mark_paid(payments: Sequence[PaidPayout], *, now: datetime, paid_at: datetime | None = None) -> None:
    """Mark locked payouts of one organization, whose conversions are locked, as paid, with everything that follows.

    `paid_at` is the time of payment, if that is not now.
    """
    paid_at = paid_at or now
    payouts.stage_paid(payments, at=paid_at)
    emit.events_of_type(
        organization_id=payments[0].payout.organization_id,
        type="payout.paid",
        data=[_paid_data(payment, paid_at) for payment in payments],
        at=now,
    )
    for payment in payments:
        if payment.payout.milestone_id is not None:
            _pay_milestone(payment.payout, payment.payout.milestone_id, now)


def _paid_data(payment: PaidPayout, now: datetime) -> dict[str, object]:
    payout = payment.payout
    return events.serialize_paid(
        payout_id=payout.id,
        affiliate_id=payout.affiliate_id,
        amount_cents=payout.amount_cents,
        currency=payout.currency,
        method=payment.method,
        paid_at=now,
        references=transfers.select_references(payment.method, {**payout.references, **payment.references}),
    )


def _pay_milestone(payout: Payout, milestone_id: UUID, now: datetime) -> None:
    """Take a paid milestone out of its deal's escrow, and emit the event. The last milestone completes the deal."""
    where = {"organization_id": payout.organization_id}
    milestone = milestones.find(**where, milestone_id=milestone_id)
    assert milestone is not None  # the payout refers to it
    deal = deals.lock(**where, deal_id=milestone.deal_id)
    assert deal is not None
    cents = releases.read_native_cents(**where, payout_id=payout.id)
    status = escrow.pay_out(deal, milestone_id=milestone.id, cents=cents, payout_id=payout.id, at=now)
    emit.event(
        **where,
        type="milestone.released",
        data=deal_events.serialize_released(
            deal_id=deal.id,
            milestone_id=milestone.id,
            seq=milestone.seq,
            cents=cents,
            payout_id=payout.id,
            deal_status=status,
        ),
        at=now,
    )


def fail(payout: Payout, *, code: str, reason: str, now: datetime) -> None:
    """Mark a locked payout as Failed. Its lines stay with it, less the amounts reversed in the meantime."""
    listed = lines.list_of_payout(organization_id=payout.organization_id, payout_id=payout.id)
    reversed_lines = [line for line in listed if line.is_open and line.reversed_native_cents]
    changes = [(line, reversal.reduce_failed(line.as_it_stands)) for line in reversed_lines]
    lines.stage_changes(organization_id=payout.organization_id, changes=changes, at=now)
    payouts.stage_change(payout, status=PayoutStatus.Failed, failed_at=now, failure_code=code, failure_reason=reason)
    emit.event(
        organization_id=payout.organization_id,
        type="payout.failed",
        data=events.serialize_failed(
            payout_id=payout.id,
            affiliate_id=payout.affiliate_id,
            amount_cents=payout.amount_cents,
            currency=payout.currency,
            method=payout.method,
            failure_reason=reason,
            failed_at=now,
        ),
        at=now,
    )
