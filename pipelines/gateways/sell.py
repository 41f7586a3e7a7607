"""A payment becomes a conversion of whom it credits, once; a start without money a lead of theirs.

Source: tracking spec, section 8 "Lead attribution order", "Attribution method taxonomy"; core spec, "Program fields".
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from domain import emails
from domain.attribution import Decision, Facts, History, Lead, NamedAffiliate, Referral, Signup
from domain.clicks import subid
from domain.conversions import avatars, customers, recurring
from domain.gateways import basis, referrals
from domain.gateways.facts import BuyerOrigin, PaymentFact, StartFact
from domain.platforms.signups import NOT_ASKED, Signups
from domain.statuses import AffiliateStatus
from models import ids
from models.conversions.sales import SaleFacts
from models.gateways import creditable, payments
from models.gateways.creditable import Creditable, Priced
from models.gateways.payments import GatewayPayment
from pipelines import earn
from pipelines.conversions import credit, price, settle
from pipelines.gateways import origins, reverse
from pipelines.gateways.desk import Booking, BookingDesk
from pipelines.leads import lifecycle

#: Why a payment has no conversion; that only what was known before could credit somebody; that it was made before.
NOBODY, CLOSED, ZERO, NOT_ACTIVE = "nobody_referred", "no_active_program", "zero_amount", "affiliate_not_active"
HISTORY_ONLY, BEFORE = "history_only", "before_connection"

_MOST_CLAIMS = 20
# Paypal names no customer before the money comes; its subscriptions are what a payment belongs to.
_HISTORY = {"customer": "customer_history", "subscription": "customer_history", "email": "customer_history"}
_HISTORY_OF = {"paypal": {**_HISTORY, "subscription": "subscription_history"}}


@dataclass(frozen=True, slots=True)
class Credit:
    """Whom an origin credits. `named` is whom the decision is about, `reason` why they earn nothing (None: they do)."""

    decision: Decision
    named: Creditable | None
    reason: str | None


def payment(desk: BookingDesk, paid: PaymentFact) -> Booking:
    """Book a payment: once by its external id, whoever tells it again and by whichever event.

    One that credited nobody is looked at again when it is told again, or when an earlier payment of its customer is
    credited, for more is known by then. Platforms are asked about one that credits nobody.
    Budget: 3 round trips (known before; who; price), and one more where events waited for it; the writes travel with
    the next statement or the commit.
    """
    all_ids = list(dict.fromkeys([paid.external_id, *paid.aliases]))
    before = _known_before(desk, paid, all_ids)
    known = before.payment
    if known is not None and known.reason != NOBODY:
        payments.stage_aliases(known, all_ids)
        if before.is_awaited:
            desk.wake(all_ids)
        return Booking(reason=known.reason, conversion_id=known.conversion_id)
    if paid.amount_cents == 0:
        if before.is_awaited:
            desk.wake(all_ids)
        return _zero(desk, paid, known)
    if known is None and not desk.was_connected(paid.paid_at):
        return _before(desk, paid, all_ids)
    origin = origins.joined(paid.origin, before.told)
    found = whom(desk, origin, paid.paid_at)
    row = replace(known or _new(desk, paid), reason=found.reason)
    if found.named is not None:
        row = booked(desk, replace(paid, origin=origin), row, found, found.named)
    payments.stage(row, aliases=all_ids)
    if known is not None and row.conversion_id is not None:
        reverse.catch_up(desk, row)
    if before.is_awaited or known is not None:
        desk.wake(all_ids, credited=row if row.conversion_id else None)
    if found.reason == NOBODY and (known is None or known.email_normalized is None):
        desk.look_up(replace(paid, origin=origin), row)
    is_lost = origin.is_referral_lost and found.reason in (None, NOBODY)
    return Booking(reason=HISTORY_ONLY if is_lost else found.reason, conversion_id=row.conversion_id)


def start(desk: BookingDesk, started: StartFact) -> Booking:
    """Book a trial or a free signup: a lead without commission where somebody is credited, once for a person.

    Who referred the customer is kept for the payments that follow.
    """
    origins.stage(desk, started.origin)
    if not desk.has_trials:
        return Booking(reason=ZERO)
    return _lead(desk, started.origin, started.started_at)


def whom(desk: BookingDesk, origin: BuyerOrigin, at: datetime, signups: Signups = NOT_ASKED) -> Credit:
    """Decide whom an origin credits at a moment, by the six steps in their order. Budget: 1 statement.

    `signups` are what platforms say. An affiliate of a campaign that is closed, or that does not pay for sales, is not
    asked.
    """
    claimed = list(referrals.claims(origin.carriers, desk.parameters))[:_MOST_CLAIMS]
    rows = creditable.named(
        organization_id=desk.organization_id,
        gateway=desk.gateway,
        slugs=[*(claim.slug for claim in claimed), *(claim.slug for claim in signups.claims)],
        customer_id=origin.customer_id,
        subscription_id=origin.subscription_id,
        email_normalized=inbox_of(origin),
        is_test=is_test(desk, origin),
        at=at,
    )
    able = [named for named in rows if named.may_earn]
    by_slug = {named.slug: named for named in able if named.by == "claim"}
    claim = next((claim for claim in claimed if claim.slug in by_slug), None)
    earlier = next((named for named in able if named.by in _HISTORY), None)
    lead = next((named for named in able if named.by == "lead"), None)
    decision = credit.decide(
        Facts(
            paid_at=at,
            gateway=desk.gateway,
            buyer_email=inbox_of(origin),
            sub_id=subid.normalize(referrals.tag(origin.carriers)),
            referral=Referral(_candidate(by_slug[claim.slug]), claim.method) if claim else None,
            history=History(_candidate(earlier), _history_method(desk.gateway, earlier)) if earlier else None,
            lead=_lead_named(lead),
            signup=_signup(signups, by_slug),
        )
    )
    dropped = decision.uncredited
    about = dropped.affiliate_id if dropped else decision.affiliate_id
    named = next((named for named in able if named.affiliate_id == about), None)
    if named is None:
        return Credit(decision, None, CLOSED if rows and not able else NOBODY)
    return Credit(decision, named, NOT_ACTIVE if dropped else None)


def is_test(desk: BookingDesk, origin: BuyerOrigin) -> bool:
    """Say whether money of this origin is only a rehearsal."""
    return origin.is_test or desk.connection.mode == "test"


def inbox_of(origin: BuyerOrigin) -> str | None:
    """Return the inbox that an origin's email leads to, by which a person is known."""
    return emails.normalize(origin.email) if origin.email else None


def _known_before(desk: BookingDesk, paid: PaymentFact, all_ids: Sequence[str]) -> payments.KnownBefore:
    return payments.lock_known_before(
        organization_id=desk.organization_id,
        gateway=desk.gateway,
        aliases=all_ids,
        subjects=origins.subjects(paid.origin),
        who=payments.Payer(paid.origin.customer_id, paid.origin.subscription_id, inbox_of(paid.origin)),
        paid_at=paid.paid_at,
    )


def booked(
    desk: BookingDesk, paid: PaymentFact, row: GatewayPayment, found: Credit, named: Creditable
) -> GatewayPayment:
    """Stage what a payment means for the affiliate whom the decision is about; return its row with the conversion.

    Budget: 1 statement, none where they earn nothing.
    """
    if found.reason is not None:
        of_nobody = credit.Payment(
            organization_id=desk.organization_id,
            source=desk.gateway,
            external_event_id=paid.external_id,
            amount_cents=paid.amount_cents,
            currency=paid.currency,
            is_test=row.is_test,
            occurred_at=paid.paid_at,
        )
        credit.stage_uncredited(of_nobody, found.decision, program_id=named.program_id)
        return row
    origin = paid.origin
    customer = f"{desk.gateway}:{origin.customer_id}" if origin.customer_id else None
    priced = creditable.price_facts(
        organization_id=desk.organization_id,
        program_id=named.program_id,
        affiliate_id=named.affiliate_id,
        customer_key=customers.key(customer_id=customer, email=origin.email, is_test=row.is_test),
        paid_at=paid.paid_at,
    )
    facts = _facts(desk, paid, row, named, priced)
    conversion = settle.conversion_of(
        facts,
        price.of(facts),
        type=recurring.conversion_type(priced.ordinal),
        source=desk.gateway,
        decision=found.decision,
    )
    conversion = replace(
        conversion,
        created_at=desk.now,
        processor_subscription_id=origin.subscription_id,
        customer_avatar_url=avatars.of(origin.email) if origin.email else None,
    )
    earn.write(conversion, share=priced.terms.recruiter_share, now=desk.now)
    credit.stage_effects(
        found.decision, organization_id=desk.organization_id, conversion_id=conversion.id, now=desk.now
    )
    return replace(row, conversion_id=conversion.id)


def _facts(desk: BookingDesk, paid: PaymentFact, row: GatewayPayment, named: Creditable, priced: Priced) -> SaleFacts:
    return SaleFacts(
        sale_id=row.id,
        organization_id=desk.organization_id,
        external_event_id=paid.external_id,
        program_id=named.program_id,
        affiliate_id=named.affiliate_id,
        amount_cents=basis.counted(priced.commission_basis, paid_cents=paid.amount_cents, net_cents=paid.net_cents),
        currency=paid.currency,
        customer_id=paid.origin.customer_id,
        customer_name=paid.origin.name,
        customer_email=paid.origin.email,
        customer_avatar_url=None,
        sub_id=None,
        is_test=row.is_test,
        accepted_at=paid.paid_at,
        customer_ordinal=priced.ordinal,
        first_paid_at=priced.first_paid_at,
        terms=priced.terms,
    )


def _before(desk: BookingDesk, paid: PaymentFact, all_ids: Sequence[str]) -> Booking:
    """Keep a payment that was made before the gateway was connected: a signed sale may have counted it."""
    row = replace(_new(desk, paid), reason=BEFORE)
    payments.stage(row, aliases=all_ids)
    desk.wake(all_ids)
    return Booking(reason=BEFORE)


def _zero(desk: BookingDesk, paid: PaymentFact, known: GatewayPayment | None) -> Booking:
    """Book a payment of nothing: it is never a sale, and a lead where this gateway's starts are leads."""
    if known is None:
        row = replace(_new(desk, paid), reason=ZERO)
        payments.stage(row, aliases=[paid.external_id, *paid.aliases])
    origins.stage(desk, paid.origin)
    return _lead(desk, paid.origin, paid.paid_at) if desk.has_trials else Booking(reason=ZERO)


def _lead(desk: BookingDesk, origin: BuyerOrigin, at: datetime) -> Booking:
    completed = origins.completed(desk, origin)
    found = whom(desk, completed, at)
    if found.named is None or found.reason is not None:
        return Booking(reason=found.reason)
    if completed.email is None:
        return Booking(reason="no_email")
    referral = lifecycle.referral(
        organization_id=desk.organization_id,
        program_id=found.named.program_id,
        affiliate_id=found.named.affiliate_id,
    )
    assert referral is not None  # they were found in this transaction
    signup = lifecycle.NewLead(
        email=completed.email,
        name=completed.name,
        occurred_at=at,
        is_test=is_test(desk, completed),
        # Not by an event: a subscription and its invoice of nothing are one start of one person.
        external_event_id=None,
        sub_id=found.decision.sub_id,
    )
    recorded = lifecycle.record(organization_id=desk.organization_id, referral=referral, signup=signup, now=desk.now)
    return Booking(reason=None if recorded.is_new else "known", conversion_id=recorded.lead_id)


def _new(desk: BookingDesk, paid: PaymentFact) -> GatewayPayment:
    return GatewayPayment(
        id=ids.new_id(),
        organization_id=desk.organization_id,
        gateway=desk.gateway,
        external_id=paid.external_id,
        event_id=desk.event.id,
        conversion_id=None,
        reason=None,
        paid_cents=paid.amount_cents,
        refunded_cents=0,
        currency=paid.currency,
        reread_cents=None,
        reread_at=None,
        customer_id=paid.origin.customer_id,
        email_normalized=inbox_of(paid.origin),
        subscription_id=paid.origin.subscription_id,
        is_test=is_test(desk, paid.origin),
        paid_at=paid.paid_at,
        created_at=desk.now,
    )


def _candidate(named: Creditable) -> NamedAffiliate:
    return NamedAffiliate(named.affiliate_id, named.affiliate_status, email=named.affiliate_email)


def _signup(signups: Signups, by_slug: Mapping[str | None, Creditable]) -> Signup | None:
    """Return the first claim that names somebody Approved; the first that names anybody where no more will come."""
    named = [(claim, by_slug[claim.slug]) for claim in signups.claims if claim.slug in by_slug]
    approved = [(claim, who) for claim, who in named if who.affiliate_status == AffiliateStatus.Approved]
    found = approved or (named if signups.is_last else [])
    return Signup(_candidate(found[0][1]), found[0][0].platform) if found else None


def _lead_named(named: Creditable | None) -> Lead | None:
    if named is None or named.lead_id is None or named.occurred_at is None:
        return None
    return Lead(named.lead_id, _candidate(named), named.occurred_at, named.sub_id)


def _history_method(gateway: str, named: Creditable) -> str:
    return f"{gateway}_{_HISTORY_OF.get(gateway, _HISTORY)[named.by]}"
