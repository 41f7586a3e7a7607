"""Platforms are asked who brought the buyer of a payment that nobody was credited for: step 6, in a job of its own.

Reading needs no lock, asking is in no transaction, crediting decides under the payment's locks and happens once.
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
from domain.platforms.signups import SignupClaim, SignupRecord, Signups, slugs
from models.gateways import inbox, payments
from models.jobs import rows
from models.platforms import connections, lookups
from models.platforms.connections import PlatformConnection
from models.platforms.lookups import PendingLookup
from pipelines.gateways.booking import events, platform_credit
from pipelines.gateways.booking.context import BookingContext
from pipelines.platforms import check, connect
from pipelines.platforms.check import PlatformWord

_MOST_CLAIMS = 20


@dataclass(frozen=True, slots=True)
class PreparedLookup:
    """A payment, and the connections to ask about its buyer, the one that was connected first first."""

    pending: PendingLookup
    paid: PaymentFact
    email: str
    asked: Sequence[PlatformConnection]


@dataclass(frozen=True, slots=True)
class PlatformSaid:
    """What one platform said: whom it knows (None: not yet), its refusal of us, or why no answer came."""

    connection: PlatformConnection
    record: SignupRecord | None = None
    refusal: str | None = None
    away: str | None = None
    wait_s: int | None = None


def prepare(*, organization_id: UUID, lookup_id: UUID) -> PreparedLookup | None:
    """Return whom to ask about a payment; None where it is credited by now, or nobody is left to ask."""
    pending = lookups.find(organization_id=organization_id, lookup_id=lookup_id)
    if pending is None:
        return None
    asked = connections.crediting(organization_id=organization_id, at=pending.started_at)
    paid = payment_json.from_json(pending.paid)
    if not asked or paid.origin.email is None or not lookups.is_open(pending):
        lookups.stage_end(pending)
        return None
    return PreparedLookup(pending, paid, paid.origin.email, asked)


def ask(prepared: PreparedLookup) -> list[PlatformSaid]:
    """Ask every platform for the buyer, each within its time. Calls them."""
    return [_said(connection, prepared.email) for connection in prepared.asked]


def record(prepared: PreparedLookup, said: Sequence[PlatformSaid], *, now: datetime) -> datetime | None:
    """Credit the payment by what was said, once; return when to ask again, None where this was the last time.

    Who refuses us is not asked again. Where a platform was away to the last, a dead letter keeps the look-up.
    """
    pending = prepared.pending
    desk = _desk(pending, now)
    events.stage_locks(desk.connection, [prepared.paid])
    for one in said:
        if one.refusal is not None:
            check.note(one.connection, PlatformWord(refusal=one.refusal), now=now)
    crediting = connections.crediting(organization_id=pending.organization_id, at=pending.started_at)
    still = {connection.id for connection in crediting}
    counts = [one for one in said if one.connection.id in still]
    again_at = _again_at(pending, counts, now)
    signups = Signups(_claims(counts, desk.parameters), is_last=again_at is None)
    if platform_credit.credit_payment(desk, prepared.paid, signups):
        lookups.stage_end(pending)
        return None
    if again_at is None:
        _end(pending, counts)
    return again_at


def _said(connection: PlatformConnection, email: str) -> PlatformSaid:
    account = connect.account(connection, within_s=schedule.BUDGET_S)
    try:
        found = registry.get(connection.platform).find(account, email, names=connect.fields(connection))
    except CredentialsRefused as error:
        return PlatformSaid(connection, refusal=str(error))
    except PlatformUnreachable as error:
        return PlatformSaid(connection, away=str(error), wait_s=error.wait_s)
    return PlatformSaid(connection, found)


def _again_at(pending: PendingLookup, said: Sequence[PlatformSaid], now: datetime) -> datetime | None:
    """Return when to ask again: as long as somebody does not know the person yet."""
    if all(one.record is not None for one in said):
        return None
    return schedule.next_at(
        pending.started_at,
        now=now,
        at_s=settings.current().platforms.lookup_retry_at_s,
        asked_to_wait_s=max((one.wait_s for one in said if one.wait_s is not None), default=None),
    )


def _claims(said: Sequence[PlatformSaid], parameters: Sequence[str]) -> tuple[SignupClaim, ...]:
    found = (
        SignupClaim(one.connection.platform, slug)
        for one in said
        if one.record is not None
        for slug in slugs(one.record, names=connect.fields(one.connection), parameters=parameters)
    )
    return tuple(itertools.islice(found, _MOST_CLAIMS))


def _desk(pending: PendingLookup, now: datetime) -> BookingContext:
    """Return where the payment's conversion is booked: as by the event that told the payment."""
    organization_id = pending.organization_id
    event_id = payments.event_of(organization_id=organization_id, payment_id=pending.payment_id)
    opened = inbox.open_event(organization_id=organization_id, event_id=event_id)
    assert opened is not None  # a payment holds it
    return BookingContext(
        connection=opened.connection,
        event=opened.event,
        parameters=Params(opened.attribution_params).effective_order,
        has_trials=False,
        has_lookups=False,
        now=now,
    )


def _end(pending: PendingLookup, said: Sequence[PlatformSaid]) -> None:
    """Stage the end of a look-up that credited nobody; one that a platform never answered waits as a dead letter."""
    away = [f"{one.connection.platform}: {one.away}" for one in said if one.away is not None]
    if not away:
        lookups.stage_end(pending)
        return
    rows.stage_dead_letter(
        jobs.PLATFORM_LOOKUP,
        organization_id=pending.organization_id,
        args={"lookup_id": str(pending.id)},
        fair_key=str(pending.organization_id),
        error=f"who brought the buyer of payment {pending.payment_id} could not be asked; {', '.join(away)}",
    )
