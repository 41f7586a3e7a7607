"""Books events of one organization together that have nothing to do with each other, by statements of many rows.

Each ends as if booked by itself. What is plain is booked so: a payment that is new, or known and settled; other ids of
a payment that is known; who referred a customer without payments; what means nothing. Whatever else a fact is, or turns
out to be, is left to be booked by itself, and so is what shares a name with an event before it: the same payment,
customer or inbox.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID

from domain.gateways.facts import AliasFact, Fact, IgnoredFact, PaymentFact, ReferralFact
from domain.gateways.states import EventStatus
from models import turns
from models.gateways import creditable, payments
from models.gateways.creditable import Creditable
from models.gateways.payments import GatewayPayment, KnownBefore
from pipelines.gateways.booking import bind, book, origins, sell, whom
from pipelines.gateways.booking.book import BookedEvent
from pipelines.gateways.booking.desk import BookingDesk
from pipelines.work import TryAgain


@dataclass(frozen=True, slots=True)
class EventAtDesk:
    """An event: where it is booked, and what it means, or as much of that as it says itself.

    One that may not be booked yet keeps back those behind it with which it shares a name; one that `says_nothing` of
    what it means before its gateway was asked, those of which a name stands anywhere in it.
    """

    desk: BookingDesk
    facts: Sequence[Fact]
    may_be_booked: bool = True
    says_nothing: bool = False


@dataclass(frozen=True, slots=True)
class _Apart:
    """An event that may be plain: the names whose turns it takes, and what is asked (None: it means nothing)."""

    told: EventAtDesk
    names: Sequence[str]
    asked: payments.AskedBefore | None


@dataclass(slots=True)
class _Bookings:
    """What is decided so far, none of it written: what became of events, what is earned, and rows of payments."""

    booked: list[tuple[EventAtDesk, BookedEvent]] = field(default_factory=list)
    earned: list[sell.EarnedPayment] = field(default_factory=list)
    new: list[GatewayPayment] = field(default_factory=list)
    aliases: list[tuple[GatewayPayment, Sequence[str]]] = field(default_factory=list)
    referred: list[tuple[BookingDesk, ReferralFact]] = field(default_factory=list)
    of_nobody: list[tuple[BookingDesk, PaymentFact, GatewayPayment]] = field(default_factory=list)

    def add(self, told: EventAtDesk, reason: str | None, conversion_id: UUID | None) -> None:
        touched = () if conversion_id is None else (conversion_id,)
        self.booked.append((told, BookedEvent(EventStatus.Processed, reason, touched)))


def several(
    told: Sequence[EventAtDesk], *, organization_id: UUID, now: datetime, elsewhere: Sequence[bytes]
) -> Sequence[tuple[EventAtDesk, BookedEvent]]:
    """Book what is plain of events of one organization, and return what became of each; of the rest nothing is done.

    The turns of all are taken first, in their one order, and nothing is decided before. Those that are earlier in
    `told` go first, and before all of them what other workers have, `elsewhere`, as it was sent.
    Budget: 2 round trips (known before; who), however many they are; the writes travel with the next statement or the
    commit, looking up who brought the buyers of those that credit nobody by statements of each.
    """
    apart = _apart(told, elsewhere)
    names = [(one.told.desk.gateway, name) for one in apart for name in one.names]
    if names:
        turns.stage_all_told(organization_id=organization_id, names=names)
    about = [(one.told, one.asked) for one in apart if one.asked is not None]
    nothing = [one.told for one in apart if one.asked is None]
    bookings = _Bookings([(one, book.event(one.desk, one.facts)) for one in nothing])
    if about:
        before = payments.lock_all_known_before([asked for _, asked in about], organization_id=organization_id)
        _decide(bookings, [(one, known) for (one, _), known in zip(about, before, strict=True)], organization_id)
    _stage(bookings, organization_id, now)
    return bookings.booked


def _apart(told: Sequence[EventAtDesk], elsewhere: Sequence[bytes]) -> list[_Apart]:
    """Return the events that may be plain, each without a name of another before it."""
    taken: set[str] = set()
    unsaid = [sent.lower() for sent in elsewhere]
    apart = []
    for one in told:
        own = book.names_of(one.facts)
        names = {*own, *_counted_under(one)}
        if one.may_be_booked and names.isdisjoint(taken) and not _any_stands_in(unsaid, names):
            asked = _asked(one)
            if asked is not None or _means_nothing(one):
                apart.append(_Apart(one, own, asked))
        taken |= names
        if one.says_nothing:
            unsaid.append((one.desk.event.raw or b"").lower())
    return apart


def _counted_under(told: EventAtDesk) -> Iterable[str]:
    """Return by whom payments are counted: a buyer who is known by nothing else may pay through several gateways."""
    keys = (whom.customer_key(told.desk, fact.origin) for fact in told.facts if isinstance(fact, PaymentFact))
    return (key for key in keys if key is not None)


def _any_stands_in(unsaid: Sequence[bytes], names: Iterable[str]) -> bool:
    """Say whether what was sent, in small letters, has one of these names in it, by which it may be about the same."""
    written = {name.rpartition(":")[2].lower().encode() for name in names}
    return any(
        name in sent and re.search(rb"(?<!\w)%b(?!\w)" % re.escape(name), sent) for sent in unsaid for name in written
    )


def _means_nothing(told: EventAtDesk) -> bool:
    return all(isinstance(fact, IgnoredFact) for fact in told.facts)


def _asked(told: EventAtDesk) -> payments.AskedBefore | None:
    """Return what is to be asked about an event that may be plain and is about a payment; None of others."""
    match told.facts:
        case [PaymentFact() as paid] if paid.amount_cents and paid.origin.checkout is None:
            return sell.asked_before(told.desk, paid)
        case [AliasFact() as alias]:
            return payments.AskedBefore(told.desk.gateway, alias.ids)
        case [ReferralFact() as referral]:
            return bind.asked_before(told.desk, referral)
    return None


def _decide(bookings: _Bookings, about: Sequence[tuple[EventAtDesk, KnownBefore]], organization_id: UUID) -> None:
    """Decide what is plain by what is known before. Budget: 1 round trip where payments are new, else none."""
    new = []
    for told, before in about:
        (fact,) = told.facts
        known = before.payment
        if before.is_awaited:
            continue
        if isinstance(fact, ReferralFact):
            bookings.referred.append((told.desk, fact))
            bookings.add(told, None, None)
        elif isinstance(fact, AliasFact) and known is not None:
            bookings.aliases.append((known, fact.ids))
            bookings.add(told, None, known.conversion_id)
        elif isinstance(fact, PaymentFact) and known is not None and known.reason != whom.NOBODY:
            bookings.aliases.append((known, sell.ids_of(fact)))
            bookings.add(told, known.reason, known.conversion_id)
        elif isinstance(fact, PaymentFact) and known is None and told.desk.is_since_connected(fact.paid_at):
            new.append((told, replace(fact, origin=origins.joined(fact.origin, before.told))))
    if new:
        asked = [whom.asked(told.desk, paid.origin, paid.paid_at) for told, paid in new]
        named = creditable.named_by_each(asked, organization_id=organization_id)
        for (told, paid), rows in zip(new, named, strict=True):
            _credit(bookings, told, paid, rows)


def _credit(bookings: _Bookings, told: EventAtDesk, paid: PaymentFact, rows: Sequence[Creditable]) -> None:
    """Decide whom a new payment credits, unless its code is still being minted, or it is not priced by itself alone."""
    desk = told.desk
    try:
        found = whom.decided(desk, paid.origin, paid.paid_at, rows)
    except TryAgain:
        return
    row = replace(sell.new_row(desk, paid), reason=found.reason)
    if found.named is not None:
        # By performance tiers it is priced by what its affiliate has brought before.
        if found.reason is not None or found.named.terms.has_tiers:
            return
        earned = sell.earned(desk, paid, row, found, found.named)
        bookings.earned.append(earned)
        row = replace(row, conversion_id=earned.conversion.id)
    bookings.new.append(row)
    bookings.aliases.append((row, sell.ids_of(paid)))
    if found.reason == whom.NOBODY:
        bookings.of_nobody.append((desk, paid, row))
    bookings.add(told, sell.reason_of(paid, found), row.conversion_id)


def _stage(bookings: _Bookings, organization_id: UUID, now: datetime) -> None:
    if bookings.earned:
        sell.stage_earned(bookings.earned, organization_id=organization_id, now=now)
    if bookings.aliases:
        payments.stage_all(bookings.new, organization_id=organization_id, aliases=bookings.aliases)
    for desk, referral in bookings.referred:
        origins.stage(desk, referral.origin, told_at=referral.told_at)
    for desk, paid, row in bookings.of_nobody:
        desk.look_up(paid, row)
