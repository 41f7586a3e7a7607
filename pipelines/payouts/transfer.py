"""One payout on its way: asked of a rail, answered, paid or failed.

The rail is never asked inside a transaction. What is asked is written down and committed first, under a key that stays
the same until the rail has refused for good, so a crash at any point leads to a look-up and never to a second payment.
Source: core spec, "Payouts" and section 3 (Payout); tracking spec, section 6, payout.paid, payout.failed and
milestone.released.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

import structlog

import settings
from adapters.rails import base
from domain import jobs
from domain.deals import events as deal_events
from domain.payouts import events, reversal, transfers
from domain.payouts.states import AttemptState, PayoutStatus, ReviewStatus
from domain.payouts.transfers import Accepted, Answer, NotFound, Paid, Rejected, Unknown
from domain.refused import Refused
from models.deals import deals, escrow, milestones, releases
from models.payouts import attempts, lines, payouts, rail_events
from models.payouts.payouts import Payout
from pipelines import work
from pipelines.payouts import rails
from pipelines.webhooks import emit
from pipelines.work import GiveUp, TryAgain

_log = structlog.get_logger(__name__)

# Until a rail is configured for its method, a payout waits this long between looks.
_RAIL_MISSING = timedelta(hours=1)
_DOUBTFUL = timedelta(hours=1)
_MISCONFIGURED = timedelta(minutes=10)

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


def prepare(*, organization_id: UUID, payout_id: UUID, now: datetime) -> PreparedTransfer | None:
    """Write down what the rail is about to be asked; None when there is nothing to ask.

    Raises TryAgain while the payout has to wait: for its hold to pass, or for a rail to be configured.
    """
    payout = payouts.lock(organization_id=organization_id, payout_id=payout_id)
    if payout is None or payout.status not in (PayoutStatus.Pending, PayoutStatus.Processing):
        return None
    if payout.status == PayoutStatus.Processing:
        return _asked_before(payout, now)
    if payout.review_status in (ReviewStatus.Pending, ReviewStatus.Rejected) or payout.exported_at is not None:
        return None
    if payout.hold_until is not None and payout.hold_until > now:
        raise TryAgain(at=payout.hold_until)
    if payout.amount_cents <= 0:
        fail(
            payout,
            code=NOTHING_LEFT,
            reason="Everything that it was to pay was taken back before it was sent.",
            now=now,
        )
        return None
    _check_not_paid(payout, now)
    rail = _rail(payout, now)
    key = transfers.key_of(payout_id=payout.id, attempt=payout.attempt)
    attempts.stage_intent(payout, key=key, books=rail.books)
    payouts.stage_change(payout, status=PayoutStatus.Processing, submitted_at=now)
    return PreparedTransfer(
        payout, _transfer(payout, key), rail, age=None, asked=0, books=rail.books, is_new_to_books=True
    )


def _asked_before(payout: Payout, now: datetime) -> PreparedTransfer:
    attempt = attempts.of_payout(payout)
    if attempt is None:
        raise GiveUp(f"payout {payout.id} is Processing and no rail was asked")
    rail = _rail(payout, now)
    if attempt.books is None:
        attempts.stage_books(payout, rail.books)
    return PreparedTransfer(
        payout,
        _transfer(payout, attempt.key),
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
        raise TryAgain(at=now + _DOUBTFUL)


def _rail(payout: Payout, now: datetime) -> base.Rail:
    try:
        return rails.of(payout, now=now)
    except base.RailMissing as missing:
        _log.warning("payout.no_rail", payout=str(payout.id), method=payout.method)
        raise TryAgain(at=now + _RAIL_MISSING) from missing


def _transfer(payout: Payout, key: str) -> transfers.Transfer:
    return transfers.Transfer(
        key=key,
        payout_id=payout.id,
        organization_id=payout.organization_id,
        attempt=payout.attempt,
        amount_cents=payout.amount_cents,
        currency=payout.currency,
        destination=transfers.Destination(transfers.Method(payout.method), payout.destination),
        known=payout.references,
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


def record(prepared: PreparedTransfer, answer: Answer | Misconfigured, *, now: datetime) -> datetime | None:
    """Write down what the rail said; return when it is to be asked again, None when the payout is settled."""
    payout = _lock_again(prepared.payout, answer)
    if payout is None or not settle(payout, prepared.payout.attempt, answer, now=now):
        return None
    if isinstance(answer, Misconfigured):
        if prepared.is_new_to_books:
            attempts.stage_no_books(prepared.payout, asked=prepared.asked + 1)
        return now + _MISCONFIGURED
    after_s = settings.current().rails.ask_again_s
    return now + timedelta(seconds=after_s[min(prepared.asked, len(after_s) - 1)])


def _lock_again(asked: Payout, answer: Answer | Misconfigured) -> Payout | None:
    where = {"organization_id": asked.organization_id, "payout_id": asked.id}
    if isinstance(answer, Paid | Rejected):
        if asked.milestone_id is not None:
            deals.stage_lock_of_payout(**where)
        lines.stage_conversions_lock(**where)
    return payouts.lock(**where)


def settle(payout: Payout, attempt: int, answer: Answer | Misconfigured, *, now: datetime) -> bool:
    """Stage an answer to one attempt of a locked payout; say whether the rail is to be asked again.

    Paid and Rejected need its conversions locked, too. An answer to an attempt that is over changes nothing: answers
    may come twice, late and in any order.
    """
    if payout.status != PayoutStatus.Processing or payout.attempt != attempt:
        return False
    match answer:
        case Paid(references):
            attempts.stage_answer(payout, state=AttemptState.paid, detail=None, at=now)
            mark_paid(payout, method=payout.method, references=references, now=now)
            return False
        case Rejected(code, message):
            attempts.stage_answer(payout, state=AttemptState.rejected, detail=message, at=now)
            fail(payout, code=code, reason=message, now=now)
            return False
        case Accepted(references):
            attempts.stage_answer(payout, state=AttemptState.accepted, detail=None, at=now)
            if references:
                payouts.stage_change(payout, **payouts.columns_of(references))
            return True
        case Unknown(why) | Misconfigured(why):
            attempts.stage_answer(payout, state=AttemptState.unknown, detail=why, at=now)
            return True
        case NotFound():
            attempts.stage_answer(payout, state=AttemptState.unknown, detail="the rail does not know the key", at=now)
            return True


def settle_by_hand(payout: Payout, *, paid_as: str | None, failed_because: str | None, now: datetime) -> str:
    """Settle a locked payout whose rail never said what became of it, by what an operator found out; return its status.

    `paid_as` is what the rail calls the payment; else it was not carried out and never will be under its key.
    One that is not Processing is freed by the latter alone, where its rail says that it paid it after all.
    Raises Refused 409 invalid_status_transition for every other that is not Processing.
    """
    where = {"organization_id": payout.organization_id, "payout_id": payout.id}
    if payout.status != PayoutStatus.Processing and failed_because and rail_events.says_paid(**where):
        rail_events.stage_settled(**where)
        return payout.status
    if payout.status != PayoutStatus.Processing:
        message = f"The payout is {payout.status}; only a Processing payout waits for its rail."
        raise Refused(409, "invalid_status_transition", message)
    answer: Answer
    if paid_as is not None:
        names = transfers.REFERENCES[transfers.Method(payout.method)]
        answer = Paid(dict.fromkeys(names, paid_as) | payout.references)
    else:
        answer = Rejected("settled_by_operator", failed_because or "The operator found that the rail did not pay it.")
    settle(payout, payout.attempt, answer, now=now)
    return PayoutStatus.Paid if paid_as is not None else PayoutStatus.Failed


def mark_paid(payout: Payout, *, method: str, references: Mapping[str, str], now: datetime) -> None:
    """Write that a locked payout whose conversions are locked was paid by a method, with everything that follows."""
    payouts.stage_paid(payout, at=now)
    payouts.stage_change(
        payout,
        status=PayoutStatus.Paid,
        method=method,
        paid_at=now,
        failed_at=None,
        failure_code=None,
        failure_reason=None,
        **payouts.columns_of(references),
    )
    emit.event(
        organization_id=payout.organization_id,
        type="payout.paid",
        data=events.paid(
            payout_id=payout.id,
            affiliate_id=payout.affiliate_id,
            amount_cents=payout.amount_cents,
            currency=payout.currency,
            method=method,
            paid_at=now,
            references=transfers.references_of(method, {**payout.references, **references}),
        ),
        at=now,
    )
    if payout.milestone_id is not None:
        _pay_milestone(payout, payout.milestone_id, now)


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


def enqueue(payout: Payout, *, run_at: datetime | None = None) -> None:
    """Stage the job that asks the payout's rail."""
    work.enqueue(jobs.PAYOUT_TRANSFER, organization_id=payout.organization_id, run_at=run_at, payout_id=payout.id)
