"""One call to a funding source: a deal's charge, or a milestone's refund.

The source is never called inside a transaction. The request was committed before, with a key that stays the same until
the source has refused it for good, so a crash at any point leads to a look-up and never to a second charge or refund.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

import structlog

import settings
from adapters.funding import base
from adapters.funding.base import FundingSource
from adapters.rails.base import KeyTaken, RailMisconfigured
from domain.deals.funding import REFERENCE, FundingCall, FundingKind
from domain.deals.steps import invalid_transition
from domain.payouts.states import AttemptState
from domain.payouts.transfers import Accepted, Answer, NotFound, Paid, Rejected, Unknown
from models.deals import deals, escrow, requests
from models.deals.requests import FundingRequest
from models.upkeep import known_servers
from pipelines import restore_guard
from pipelines.deals import charge, sources
from pipelines.work import GiveUp, TryAgain

_log = structlog.get_logger(__name__)

_SOURCE_MISSING = timedelta(hours=1)
_MISCONFIGURED = timedelta(minutes=10)
_FINAL_STATES = (AttemptState.paid, AttemptState.rejected)


@dataclass(frozen=True, slots=True)
class PreparedCall:
    """A request and its source. A request that may have been sent before is looked up first.

    `age` is the time since then, None if it surely was never sent.
    """

    request: FundingRequest
    source: FundingSource
    books: str
    is_new_to_books: bool
    age: timedelta | None


def prepare(*, organization_id: UUID, request_id: UUID, now: datetime) -> PreparedCall | None:
    """Record that the source is about to be called; return None if there is nothing to send.

    Raises TryAgain until a source is configured, and after a restore (`restore_guard`).
    """
    request = lock(organization_id=organization_id, request_id=request_id)
    if request is None or request.state in _FINAL_STATES:
        return None
    restore_guard.check(now)
    try:
        source = sources.find_source(request, now=now)
    except sources.SourceMissing as missing:
        _log.warning("deal.no_source", request=str(request.id), kind=request.kind)
        raise TryAgain(at=now + _SOURCE_MISSING, why=f"no funding source: {missing}") from missing
    if request.books is None:
        requests.stage_books(request, source.books)
    return PreparedCall(
        request,
        source,
        request.books or source.books,
        is_new_to_books=request.books is None,
        age=_age(request),
    )


def _age(request: FundingRequest) -> timedelta | None:
    """Return how long ago a request may have been sent first.

    A request of a deal from before a restore may have been sent after the restored time, with the same key.
    """
    if request.age is not None:
        return request.age
    restored_to = known_servers.find_restored_to()
    deal = deals.find(organization_id=request.organization_id, deal_id=request.deal_id)
    is_from_before = restored_to is not None and deal is not None and deal.created_at <= restored_to
    return timedelta() if is_from_before else None


def lock(*, organization_id: UUID, request_id: UUID) -> FundingRequest | None:
    """Return a request, locked after its deal, or None."""
    row = requests.find(organization_id=organization_id, request_id=request_id)
    if row is None:
        return None
    deals.lock(organization_id=organization_id, deal_id=row.deal_id)
    return requests.lock(organization_id=organization_id, request_id=request_id)


def call(prepared: PreparedCall) -> Answer | RailMisconfigured:
    """Call the source; never inside a transaction. Raises GiveUp if a person has to look before anything is sent."""
    request = prepared.request
    funding_call = FundingCall(
        kind=FundingKind(request.kind),
        key=request.key,
        organization_id=request.organization_id,
        deal_id=request.deal_id,
        amount_cents=request.amount_cents,
        currency=request.currency,
        source=request.source,
        charge_reference=request.charge_reference,
        known=request.reference,
    )
    try:
        if prepared.age is None:
            return prepared.source.ask(funding_call)
        return base.resolve(prepared.source, funding_call, age=prepared.age, books=prepared.books)
    except RailMisconfigured as error:
        return error
    except KeyTaken as error:
        raise GiveUp(f"the funding source has another request with this key: {error}") from error


def record(prepared: PreparedCall, answer: Answer | RailMisconfigured, *, now: datetime) -> datetime | None:
    """Record the source's answer; return when to call it again, None if the answer is final."""
    before = prepared.request
    request = lock(organization_id=before.organization_id, request_id=before.id)
    if request is None or request.state in _FINAL_STATES:
        return None
    if isinstance(answer, RailMisconfigured):
        _stage(request, AttemptState.unknown, now, detail=str(answer))
        if prepared.is_new_to_books:
            requests.stage_no_books(request, request_count=request.asked + 1)
        return now + _MISCONFIGURED
    if not settle(request, answer, now=now):
        return None
    after_s = settings.current().rails.ask_again_s
    return now + timedelta(seconds=after_s[min(before.asked, len(after_s) - 1)])


def settle(request: FundingRequest, answer: Answer, *, now: datetime) -> bool:
    """Record an answer to a locked request that is not final; return whether the source must be called again."""
    match answer:
        case Paid(references):
            _stage(request, AttemptState.paid, now, reference=references[REFERENCE])
            _record_success(request, references[REFERENCE], now)
            return False
        case Rejected(code, message):
            _stage(request, AttemptState.rejected, now, detail=f"{code}: {message}")
            _log.warning("deal.refused", request=str(request.id), kind=request.kind, code=code)
            return False
        case Accepted(references):
            _stage(request, AttemptState.accepted, now, reference=references.get(REFERENCE))
        case Unknown(why):
            _stage(request, AttemptState.unknown, now, detail=why)
        case NotFound():
            _stage(request, AttemptState.unknown, now, detail="the source does not know the key")
    return True


def settle_by_hand(request: FundingRequest, *, paid_as: str | None, failed_because: str | None, now: datetime) -> str:
    """Settle a locked request without a final answer, by what an operator found out.

    `paid_as` is the source's id of the payment; without it the request was not carried out and never will be with its
    key. A refused refund may have been paid by other means since. Returns the state. Raises Refused 409
    invalid_status_transition if it is final.
    """
    if request.state in _FINAL_STATES and not (paid_as and _is_open_refund(request)):
        raise invalid_transition(
            f"The {request.kind} is {request.state}; only one that waits for its source can be settled."
        )
    answer: Answer
    if paid_as is not None:
        answer = Paid({REFERENCE: paid_as})
    else:
        answer = Rejected("settled_by_operator", failed_because or "The operator found that it was not carried out.")
    settle(request, answer, now=now)
    return AttemptState.paid if paid_as is not None else AttemptState.rejected


def _is_open_refund(request: FundingRequest) -> bool:
    """Return whether a refund was refused and not requested again."""
    if request.kind != FundingKind.refund or request.state != AttemptState.rejected:
        return False
    latest = requests.find_latest(
        organization_id=request.organization_id,
        deal_id=request.deal_id,
        kind=FundingKind.refund,
        milestone_id=request.milestone_id,
    )
    return latest is not None and latest.id == request.id


def _record_success(request: FundingRequest, reference: str, now: datetime) -> None:
    if request.kind == FundingKind.charge:
        charge.record_success(request, reference=reference, now=now)
        return
    deal = deals.lock(organization_id=request.organization_id, deal_id=request.deal_id)
    assert deal is not None
    assert request.milestone_id is not None  # a refund is of one
    escrow.give_back(deal, milestone_id=request.milestone_id, cents=request.amount_cents, request_id=request.id, at=now)


def _stage(
    request: FundingRequest,
    state: AttemptState,
    now: datetime,
    *,
    reference: str | None = None,
    detail: str | None = None,
) -> None:
    requests.stage_answer(request, state=state, reference=reference, detail=detail, at=now)
