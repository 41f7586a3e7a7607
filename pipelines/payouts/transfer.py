"""Payouts on their way: asked of a rail, answered, paid or failed.

The rail is never asked inside a transaction. What is asked is written down and committed first, under a key that stays
the same until the rail has refused for good, so a crash at any point leads to a look-up and never to a second payment.
Several of one organization are prepared together and recorded together; a rail is asked for each by itself.
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

# Until a rail is configured for its method, a payout waits this long between looks.
_RAIL_MISSING = timedelta(hours=1)
_DOUBTFUL = timedelta(hours=1)
_MISCONFIGURED = timedelta(minutes=10)

_UNSETTLED = (PayoutStatus.Pending, PayoutStatus.Processing)

NOTHING_LEFT = "nothing_left_to_pay"


@dataclass(frozen=True, slots=True)
class PreparedTransfer:
    """What to ask. `age` is how long ago the rail was asked first, and then it is looked up first; None: never.

    `books` are those that may hold the transfer; `is_new_to_books`: they were not asked for it before.
    """

    payout: Payout
    transfer: transfers.Transfer
    rail: base.Rail
    age: timedelta | None
    asked: int
    books: str
    is_new_to_books: bool


@dataclass(frozen=True, slots=True)
class Misconfigured:
    """The rail turned our credentials down; nothing moved."""

    why: str


def prepare(*, organization_id: UUID, payout_ids: Sequence[UUID], now: datetime) -> list[PreparedTransfer | None]:
    """Write down what rails are about to be asked for payouts; None where there is nothing to ask.

    Raises TryAgain while one of them has to wait: for its hold to pass, for a rail to be configured, or for a word
    after a restore (`restore_guard`).
    Budget: 1 round trip for any number that is sent for the first time.
    """
    locked = payouts.lock_to_send(organization_id=organization_id, payout_ids=payout_ids)
    if any(payout.status in _UNSETTLED for payout in locked.values()):
        restore_guard.check(now)
    prepared = [_prepared(locked.get(payout_id), now) for payout_id in payout_ids]
    first = [each for each in prepared if each is not None and each.age is None]
    if first:
        attempts.stage_intents([(each.payout, each.transfer.key, each.books, each.transfer.labels) for each in first])
        payouts.stage_submitted([each.payout for each in first], at=now)
    return prepared


def _prepared(payout: Payout | None, now: datetime) -> PreparedTransfer | None:
    if payout is None or payout.status not in _UNSETTLED:
        return None
    if payout.status == PayoutStatus.Processing:
        return _asked_before(payout, now)
    if payout.review_status in (ReviewStatus.Pending, ReviewStatus.Rejected) or payout.exported_at is not None:
        return None
    if payout.hold_until is not None and payout.hold_until > now:
        raise TryAgain(at=payout.hold_until, why="the payout is held until then")
    if payout.amount_cents <= 0:
        reason = "Everything that it was to pay was taken back before it was sent."
        fail(payout, code=NOTHING_LEFT, reason=reason, now=now)
        return None
    _check_not_paid(payout, now)
    rail = _rail(payout, now)
    asked = _transfer(payout, transfers.key_of(payout_id=payout.id, attempt=payout.attempt), rails.labels_of(payout))
    return PreparedTransfer(payout, asked, rail, age=None, asked=0, books=rail.books, is_new_to_books=True)


def give_back(prepared: Sequence[PreparedTransfer]) -> None:
    """Take back what was written of transfers whose rails were not asked: each is as it was before it was prepared.

    What somebody settled meanwhile, or set out to ask for, stays as it is.
    """
    where = {"organization_id": prepared[0].payout.organization_id}
    locked = payouts.lock_all(**where, payout_ids=[each.payout.id for each in prepared])
    still = [each for each in prepared if _waits(locked.get(each.payout.id), each.payout.attempt)]
    if first := [each.payout for each in still if each.age is None]:
        attempts.stage_withdrawn(first)
    for each in still:
        if each.age is not None and each.is_new_to_books:
            attempts.stage_no_books(each.payout, asked=each.asked)


def is_to_be_asked(prepared: PreparedTransfer) -> bool:
    """Say whether a rail is still to be asked for what was prepared, and nobody else has set out to ask since.

    Budget: 1 round trip.
    """
    return attempts.is_untouched(prepared.payout, asked=prepared.asked, is_intent=prepared.age is None)


def _asked_before(payout: Payout, now: datetime) -> PreparedTransfer:
    attempt = attempts.of_payout(payout)
    if attempt is None:
        raise GiveUp(f"payout {payout.id} is Processing and no rail was asked")
    rail = _rail(payout, now)
    if attempt.state == AttemptState.intent:
        attempts.stage_in_doubt(payout)
    if attempt.books is None:
        attempts.stage_books(payout, rail.books)
    return PreparedTransfer(
        payout,
        _transfer(payout, attempt.key, attempt.labels or {}),
        rail,
        age=attempt.age,
        asked=attempt.asked,
        books=attempt.books or rail.books,
        is_new_to_books=attempt.books is None,
    )


def _check_not_paid(payout: Payout, now: datetime) -> None:
    """Let a payout wait whose earlier attempt was paid after all, as its rail says."""
    if payout.attempt > 1 and rail_events.says_paid(organization_id=payout.organization_id, payout_id=payout.id):
        _log.error("payout.doubtful", payout=str(payout.id))
        raise TryAgain(at=now + _DOUBTFUL, why="its rail says that an earlier attempt was paid; an operator decides")


def _rail(payout: Payout, now: datetime) -> base.Rail:
    try:
        return rails.of(payout, now=now)
    except base.RailMissing as missing:
        _log.warning("payout.no_rail", payout=str(payout.id), method=payout.method)
        raise TryAgain(at=now + _RAIL_MISSING, why=f"no payout rail: {missing}") from missing


def _transfer(payout: Payout, key: str, labels: Mapping[str, str]) -> transfers.Transfer:
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
    """Ask the rail; never inside a transaction. Raises GiveUp where a person has to look before anything is asked."""
    try:
        if prepared.age is None:
            return prepared.rail.send(prepared.transfer)
        return base.resolve(prepared.rail, prepared.transfer, age=prepared.age, books=prepared.books)
    except base.RailMisconfigured as error:
        return Misconfigured(str(error))
    except base.KeyTaken as error:
        raise GiveUp(f"the rail knows this payout's key for something else: {error}") from error


def record(
    answered: Sequence[tuple[PreparedTransfer, Answer | Misconfigured]], *, now: datetime
) -> list[datetime | None]:
    """Write down what rails said of payouts of one organization.

    Returns when each is to be asked about again, None when it is settled. Those that are paid are booked by the same
    few statements. Budget: 1 round trip, besides what those cost that failed, or that pay a milestone.
    """
    locked = _lock_again(answered)
    again: list[datetime | None] = []
    payments = []
    for prepared, answer in answered:
        payout = locked.get(prepared.payout.id)
        if payout is not None and isinstance(answer, Paid):
            if _waits(payout, prepared.payout.attempt):
                payments.append(PaidPayout(payout, payout.method, answer.references))
            again.append(None)
        else:
            again.append(_again_at(payout, prepared, answer, now))
    _settle_paid(payments, now)
    return again


def _again_at(
    payout: Payout | None, prepared: PreparedTransfer, answer: Answer | Misconfigured, now: datetime
) -> datetime | None:
    if payout is None or not settle(payout, prepared.payout.attempt, answer, now=now):
        return None
    if isinstance(answer, Misconfigured):
        if prepared.is_new_to_books:
            attempts.stage_no_books(prepared.payout, asked=prepared.asked + 1)
        return now + _MISCONFIGURED
    after_s = settings.current().rails.ask_again_s
    return now + timedelta(seconds=after_s[min(prepared.asked, len(after_s) - 1)])


def _lock_again(answered: Sequence[tuple[PreparedTransfer, Answer | Misconfigured]]) -> dict[UUID, Payout]:
    where = {"organization_id": answered[0][0].payout.organization_id}
    final = [prepared.payout for prepared, answer in answered if isinstance(answer, Paid | Rejected)]
    if final:
        lines.stage_conversions_lock(**where, payout_ids=[payout.id for payout in final])
    if of_deals := [payout.id for payout in final if payout.milestone_id is not None]:
        deals.stage_lock_of_payouts(**where, payout_ids=of_deals)
    return payouts.lock_all(**where, payout_ids=[prepared.payout.id for prepared, _ in answered])


def _waits(payout: Payout | None, attempt: int) -> bool:
    """Say whether a payout is there and waits for the answer to this attempt."""
    return payout is not None and payout.status == PayoutStatus.Processing and payout.attempt == attempt


def settle(payout: Payout, attempt: int, answer: Answer | Misconfigured, *, now: datetime) -> bool:
    """Stage an answer to one attempt of a locked payout; say whether the rail is to be asked again.

    Paid and Rejected need its conversions locked, too. An answer to an attempt that is over changes nothing: answers
    may come twice, late and in any order.
    """
    if not _waits(payout, attempt):
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
                payouts.stage_change(payout, **payouts.columns_of(references))
            return True
        case Unknown(why) | Misconfigured(why):
            attempts.stage_answer([payout], state=AttemptState.unknown, detail=why, at=now)
            return True
        case NotFound():
            attempts.stage_answer([payout], state=AttemptState.unknown, detail="the rail does not know the key", at=now)
            return True


def _settle_paid(payments: Sequence[PaidPayout], now: datetime) -> None:
    if payments:
        answered = [payment.payout for payment in payments]
        attempts.stage_answer(answered, state=AttemptState.paid, detail=None, at=now)
        mark_paid(payments, now=now)


def mark_paid(payments: Sequence[PaidPayout], *, now: datetime, paid_at: datetime | None = None) -> None:
    """Write that locked payouts of one organization, whose conversions are locked, were paid, with all that follows.

    `paid_at` is when, if that was not now.
    """
    paid_at = paid_at or now
    payouts.stage_paid(payments, at=paid_at)
    emit.events_of_type(
        organization_id=payments[0].payout.organization_id,
        type="payout.paid",
        data=[_paid_event(payment, paid_at) for payment in payments],
        at=now,
    )
    for payment in payments:
        if payment.payout.milestone_id is not None:
            _pay_milestone(payment.payout, payment.payout.milestone_id, now)


def _paid_event(payment: PaidPayout, now: datetime) -> dict[str, object]:
    payout = payment.payout
    return events.paid(
        payout_id=payout.id,
        affiliate_id=payout.affiliate_id,
        amount_cents=payout.amount_cents,
        currency=payout.currency,
        method=payment.method,
        paid_at=now,
        references=transfers.references_of(payment.method, {**payout.references, **payment.references}),
    )


def _pay_milestone(payout: Payout, milestone_id: UUID, now: datetime) -> None:
    """Take what a payout has paid out of its deal's escrow, and tell the brand. The last one completes the deal."""
    where = {"organization_id": payout.organization_id}
    milestone = milestones.find(**where, milestone_id=milestone_id)
    assert milestone is not None  # the payout refers to it
    deal = deals.lock(**where, deal_id=milestone.deal_id)
    assert deal is not None
    cents = releases.native_cents(**where, payout_id=payout.id)
    status = escrow.pay_out(deal, milestone_id=milestone.id, cents=cents, payout_id=payout.id, at=now)
    emit.event(
        **where,
        type="milestone.released",
        data=deal_events.released(
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
    """Stage that a locked payout has failed for good. Its lines stay with it, less what was reversed meanwhile."""
    for line in lines.of_payout(organization_id=payout.organization_id, payout_id=payout.id):
        if line.is_open and line.reversed_native_cents:
            change = reversal.settled_down(line.as_it_stands)
            lines.stage_change(organization_id=payout.organization_id, line=line, change=change, at=now)
    payouts.stage_change(payout, status=PayoutStatus.Failed, failed_at=now, failure_code=code, failure_reason=reason)
    emit.event(
        organization_id=payout.organization_id,
        type="payout.failed",
        data=events.failed(
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
