"""Look-up at platforms of the buyer of an uncredited payment: attribution step 6, in a job of its own.

Reading needs no lock, the calls are in no transaction, crediting decides under the payment's locks and happens once.
Source: tracking spec, section 8 "Lead attribution order", step 6.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import settings
from adapters.gateways.base import CredentialsRefused
from adapters.platforms import registry
from adapters.platforms.base import PlatformUnreachable
from domain import jobs
from domain.clicks.attribution_params import Params
from domain.gateways import payment_json
from domain.gateways.facts import PaymentFact
from domain.platforms import schedule
from domain.platforms.signups import SignupClaim, SignupRecord, Signups, list_slugs
from models.gateways import inbox, payments
from models.jobs import rows
from models.platforms import connections, lookups
from models.platforms.connections import PlatformConnection
from models.platforms.lookups import PendingLookup
from pipelines.gateways.booking import events, platform_credit
from pipelines.gateways.booking.context import BookingContext
from pipelines.platforms import check, connect
from pipelines.platforms.check import CredentialCheck

_MAX_CLAIMS = 20


@dataclass(frozen=True, slots=True)
class PreparedLookup:
    """A payment, and the connections to ask about its buyer, oldest first."""

    pending: PendingLookup
    payment: PaymentFact
    email: str
    connections: Sequence[PlatformConnection]


@dataclass(frozen=True, slots=True)
class PlatformAnswer:
    """A platform's answer: the signup it knows (None: not yet), its refusal, or why there is no answer."""

    connection: PlatformConnection
    record: SignupRecord | None = None
    refusal: str | None = None
    unreachable_reason: str | None = None
    wait_s: int | None = None


def prepare(*, organization_id: UUID, lookup_id: UUID) -> PreparedLookup | None:
    """Return the payment and the platforms to ask; None if it is credited now or no platform is left."""
    pending = lookups.find(organization_id=organization_id, lookup_id=lookup_id)
    if pending is None:
        return None
    crediting = connections.list_crediting(organization_id=organization_id, at=pending.started_at)
    payment = payment_json.parse(pending.paid)
    if not crediting or payment.origin.email is None or not lookups.is_open(pending):
        lookups.stage_end(pending)
        return None
    return PreparedLookup(pending, payment, payment.origin.email, crediting)


def ask_platforms(prepared: PreparedLookup) -> list[PlatformAnswer]:
    """Ask every platform for the buyer, each within its time limit. Calls the platforms."""
    return [_ask_one(connection, prepared.email) for connection in prepared.connections]


def record(prepared: PreparedLookup, answers: Sequence[PlatformAnswer], *, now: datetime) -> datetime | None:
    """Credit the payment by the answers, once; return when to ask again, None if this was the last time.

    A platform that refused is not asked again. If one was unreachable until the end, a dead letter keeps the look-up.
    """
    pending = prepared.pending
    context = _booking_context(pending, now)
    events.stage_locks(context.connection, [prepared.payment])
    for answer in answers:
        if answer.refusal is not None:
            check.record(answer.connection, CredentialCheck(refusal=answer.refusal), now=now)
    crediting = connections.list_crediting(organization_id=pending.organization_id, at=pending.started_at)
    crediting_ids = {connection.id for connection in crediting}
    counted = [answer for answer in answers if answer.connection.id in crediting_ids]
    again_at = _next_at(pending, counted, now)
    signups = Signups(_list_claims(counted, context.parameters), is_last=again_at is None)
    if platform_credit.credit_payment(context, prepared.payment, signups):
        lookups.stage_end(pending)
        return None
    if again_at is None:
        _end(pending, counted)
    return again_at


def _ask_one(connection: PlatformConnection, email: str) -> PlatformAnswer:
    account = connect.account_from_row(connection, within_s=schedule.BUDGET_S)
    try:
        signup = registry.get(connection.platform).find(account, email, names=connect.list_slug_fields(connection))
    except CredentialsRefused as error:
        return PlatformAnswer(connection, refusal=str(error))
    except PlatformUnreachable as error:
        return PlatformAnswer(connection, unreachable_reason=str(error), wait_s=error.wait_s)
    return PlatformAnswer(connection, signup)


def _next_at(pending: PendingLookup, answers: Sequence[PlatformAnswer], now: datetime) -> datetime | None:
    """Return when to ask again; None once every platform knows the person or the time is up."""
    if all(answer.record is not None for answer in answers):
        return None
    return schedule.next_at(
        pending.started_at,
        now=now,
        at_s=settings.current().platforms.lookup_retry_at_s,
        requested_wait_s=max((answer.wait_s for answer in answers if answer.wait_s is not None), default=None),
    )


def _list_claims(answers: Sequence[PlatformAnswer], parameters: Sequence[str]) -> tuple[SignupClaim, ...]:
    claims = (
        SignupClaim(answer.connection.platform, slug)
        for answer in answers
        if answer.record is not None
        for slug in list_slugs(answer.record, names=connect.list_slug_fields(answer.connection), parameters=parameters)
    )
    return tuple(itertools.islice(claims, _MAX_CLAIMS))


def _booking_context(pending: PendingLookup, now: datetime) -> BookingContext:
    """Return the booking context of the event that reported the payment."""
    organization_id = pending.organization_id
    event_id = payments.find_event(organization_id=organization_id, payment_id=pending.payment_id)
    opened = inbox.find_with_connection(organization_id=organization_id, event_id=event_id)
    assert opened is not None  # the payment refers to it
    return BookingContext(
        connection=opened.connection,
        event=opened.event,
        parameters=Params(opened.attribution_params).effective_order,
        has_trials=False,
        has_lookups=False,
        now=now,
    )


def _end(pending: PendingLookup, answers: Sequence[PlatformAnswer]) -> None:
    """Stage the end of a look-up without a credit; if a platform never answered, it waits as a dead letter."""
    unreachable = [
        f"{answer.connection.platform}: {answer.unreachable_reason}"
        for answer in answers
        if answer.unreachable_reason is not None
    ]
    if not unreachable:
        lookups.stage_end(pending)
        return
    rows.stage_dead_letter(
        jobs.PLATFORM_LOOKUP,
        organization_id=pending.organization_id,
        args={"lookup_id": str(pending.id)},
        fair_key=str(pending.organization_id),
        error=f"who brought the buyer of payment {pending.payment_id} could not be asked; {', '.join(unreachable)}",
    )
