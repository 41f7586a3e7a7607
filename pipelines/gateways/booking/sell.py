"""A payment becomes a conversion of whom it credits, once; a start without money a lead of theirs.

Source: tracking spec, section 8 "Lead attribution order", "Attribution method taxonomy"; core spec, "Program fields".
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from domain.conversions import avatars, recurring
from domain.conversions.commission import CommissionRate, CommissionType
from domain.gateways import basis
from domain.gateways.facts import BuyerOrigin, PaymentFact, StartFact
from domain.money import money
from domain.statuses import Payability
from models import ids
from models.conversions import customers
from models.conversions.conversions import Conversion
from models.conversions.sales import SaleFacts
from models.coupons import affiliate_coupons
from models.gateways import payments
from models.gateways.creditable import Creditable, RedeemableCode
from models.gateways.payments import GatewayPayment
from pipelines import earnings
from pipelines.conversions import credit, price, settlement
from pipelines.conversions.price import Price
from pipelines.gateways.booking import origins, parts, reverse, totals, whom
from pipelines.gateways.booking.desk import Booking, BookingDesk
from pipelines.leads import lifecycle

#: Why a payment has no conversion; that only what was known before could credit somebody; that it was made before.
ZERO, HISTORY_ONLY, BEFORE = "zero_amount", "history_only", "before_connection"


def payment(desk: BookingDesk, paid: PaymentFact) -> Booking:
    """Book a payment: once by its external id, whoever tells it again and by whichever event.

    One that credited nobody is looked at again when it is told again, or when an earlier payment of its customer is
    credited, for more is known by then. Platforms are asked about one that credits nobody. A further payment of an
    order whose first one is credited is added to that one's conversion. What a known one's order comes to is booked.
    Budget: 2 round trips (known before; who), one more where events waited for it, one where it names a store's
    checkout, and one where its buyer's referral was made days later; the writes travel with the next statement or the
    commit. For a further payment those of `parts.join`.
    """
    all_ids = ids_of(paid)
    before = payments.lock_known_before(asked_before(desk, paid), organization_id=desk.organization_id)
    known = before.payment
    if known is not None:
        known = _with_total(desk, known, paid)
    if known is not None and not _may_be_credited(known):
        payments.stage_aliases(known, all_ids)
        if before.is_awaited:
            desk.wake(all_ids)
        return Booking(reason=known.reason, conversion_id=known.conversion_id)
    if known is not None:
        paid = _as_known(paid, known)
    elif totals.is_cancelled(paid, before.state):
        desk.stage_parked(all_ids)
        return Booking(reason=totals.CANCELLED)
    if paid.amount_cents == 0:
        if before.is_awaited:
            desk.wake(all_ids)
        return _zero(desk, paid, known)
    if known is None and not desk.was_connected(paid.paid_at):
        return _before(desk, paid, all_ids)
    row = known or new_row(desk, paid)
    if before.order_conversion_id is not None:
        joined = parts.join(desk, paid, row, before.order_conversion_id, aliases=all_ids)
        if joined is not None:
            if known is not None:
                reverse.catch_up(desk, joined)
            if before.is_awaited or known is not None:
                desk.wake(all_ids, credited=joined)
            return Booking(conversion_id=joined.conversion_id)
    paid = replace(paid, origin=origins.with_checkout(desk, paid.origin))
    if before.told:
        referrals = origins.select_counting(desk, before.told, paid.paid_at)
        paid = replace(paid, origin=origins.joined(paid.origin, referrals))
    found = whom.of(desk, paid.origin, paid.paid_at)
    row = replace(row, reason=found.reason)
    if found.named is not None:
        row = booked(desk, paid, row, found, found.named)
    payments.stage(row, aliases=all_ids)
    if known is None:
        row = totals.apply_state(desk, row, before.state)
    elif row.conversion_id is not None:
        reverse.catch_up(desk, row)
    if before.is_awaited or known is not None:
        desk.wake(all_ids, credited=row if row.conversion_id else None)
    if found.reason == whom.NOBODY and (known is None or known.email_normalized is None):
        desk.look_up(paid, row)
    if found.reason == whom.NOBODY:
        origins.stage_awaited(desk, paid.origin)
    return Booking(reason=reason_of(paid, found), conversion_id=row.conversion_id)


def start(desk: BookingDesk, started: StartFact) -> Booking:
    """Book a trial or a free signup: a lead without commission where somebody is credited, once for a person.

    Who referred the customer is kept for the payments that follow.
    """
    origins.stage(desk, started.origin, told_at=started.started_at)
    if not desk.has_trials:
        return Booking(reason=ZERO)
    return _lead(desk, started.origin, started.started_at)


def asked_before(desk: BookingDesk, paid: PaymentFact) -> payments.AskedBefore:
    """Return what is to be asked about a payment before anything is decided."""
    return payments.AskedBefore(
        gateway=desk.gateway,
        aliases=ids_of(paid),
        subjects=origins.subjects(paid.origin),
        who=payments.Payer(
            paid.origin.customer_id, paid.origin.subscription_id, whom.inbox_of(paid.origin), paid.order_id
        ),
        paid_at=paid.paid_at,
    )


def _with_total(desk: BookingDesk, known: GatewayPayment, paid: PaymentFact) -> GatewayPayment:
    """Book what the order of a known payment comes to; return the payment as it is then."""
    told = totals.of_payment(paid)
    return known if told is None or known.reason == BEFORE else totals.apply(desk, known, told)


def _may_be_credited(known: GatewayPayment) -> bool:
    """Return whether a known payment may credit an affiliate yet: nobody was named, or only now anything was paid."""
    return known.reason == whom.NOBODY or (known.reason == ZERO and known.paid_cents > 0)


def _as_known(paid: PaymentFact, known: GatewayPayment) -> PaymentFact:
    """Return a payment with the amount that is known of it: its order may have been raised after this event."""
    if paid.amount_cents in (0, known.paid_cents):
        return replace(paid, amount_cents=known.paid_cents)
    net_cents = paid.net_cents
    if net_cents is not None:
        net_cents = money.divide_half_even(net_cents * known.paid_cents, paid.amount_cents)
    return replace(paid, amount_cents=known.paid_cents, net_cents=net_cents)


def ids_of(paid: PaymentFact) -> list[str]:
    """Return all ids by which a payment may be named, its own first."""
    return list(dict.fromkeys([paid.external_id, *paid.aliases]))


def reason_of(paid: PaymentFact, found: whom.Credit) -> str | None:
    """Return why an event says less of a payment than it might: nobody earns by it, or who referred it is lost."""
    is_lost = paid.origin.is_referral_lost and found.reason in (None, whom.NOBODY)
    return HISTORY_ONLY if is_lost else found.reason


def booked(
    desk: BookingDesk, paid: PaymentFact, row: GatewayPayment, found: whom.Credit, named: Creditable
) -> GatewayPayment:
    """Stage what a payment means for the affiliate whom the decision is about; return its row with the conversion.

    Budget: none; 3 round trips in a campaign with performance tiers, as `price.price_sale`.
    """
    if not found.is_attributed:
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
    conversion = _conversion_of(desk, paid, row, found, named)
    _stage_earned(desk, paid, found, named, conversion)
    return replace(row, conversion_id=conversion.id)


def _conversion_of(
    desk: BookingDesk, paid: PaymentFact, row: GatewayPayment, found: whom.Credit, named: Creditable
) -> Conversion:
    """Return what a payment earns for whom it credits: nothing where the campaign does not pay for sales.

    Budget: as `booked`.
    """
    origin = paid.origin
    facts = _facts(desk, paid, row, named)
    is_paid = found.reason is None
    conversion = settlement.build_conversion(
        facts,
        price.price_sale(facts, _own_rate(found.code)) if is_paid else Price(rate=None, commission_cents=0),
        type=recurring.conversion_type(named.ordinal),
        source=desk.gateway,
        decision=found.decision,
    )
    return replace(
        conversion,
        created_at=desk.now,
        payability=(Payability.payable if is_paid else Payability.not_paid_on_campaign).value,
        processor_subscription_id=origin.subscription_id,
        customer_avatar_url=avatars.of(origin.email) if origin.email else None,
        coupon_code=found.code.text if found.code else None,
        affiliate_coupon_id=found.code.id if found.code else None,
    )


def _stage_earned(
    desk: BookingDesk, paid: PaymentFact, found: whom.Credit, named: Creditable, conversion: Conversion
) -> None:
    """Stage what a payment earns, and all that goes with it."""
    customers.stage_count(
        whom.customer_names(desk, paid.origin),
        organization_id=desk.organization_id,
        program_id=named.program_id,
        paid_at=paid.paid_at,
        ordinal=named.ordinal,
    )
    earnings.write(conversion, share=named.terms.recruiter_share, now=desk.now)
    credit.stage_effects(
        found.decision, organization_id=desk.organization_id, conversion_id=conversion.id, now=desk.now
    )
    _stage_redeemed(desk, found, paid.paid_at)


def _facts(desk: BookingDesk, paid: PaymentFact, row: GatewayPayment, named: Creditable) -> SaleFacts:
    return SaleFacts(
        sale_id=row.id,
        organization_id=desk.organization_id,
        external_event_id=paid.external_id,
        program_id=named.program_id,
        affiliate_id=named.affiliate_id,
        amount_cents=basis.counted(named.commission_basis, paid_cents=paid.amount_cents, net_cents=paid.net_cents),
        currency=paid.currency,
        customer_id=paid.origin.customer_id,
        customer_name=paid.origin.name,
        customer_email=paid.origin.email,
        customer_avatar_url=None,
        sub_id=None,
        is_test=row.is_test,
        accepted_at=paid.paid_at,
        customer_ordinal=named.ordinal,
        first_paid_at=named.first_paid_at,
        terms=named.terms,
    )


def _before(desk: BookingDesk, paid: PaymentFact, all_ids: Sequence[str]) -> Booking:
    """Keep a payment that was made before the gateway was connected: a signed sale may have counted it."""
    row = replace(new_row(desk, paid), reason=BEFORE)
    payments.stage(row, aliases=all_ids)
    desk.wake(all_ids)
    return Booking(reason=BEFORE)


def _zero(desk: BookingDesk, paid: PaymentFact, known: GatewayPayment | None) -> Booking:
    """Book a payment of nothing: it is never a sale, and a lead where this gateway's starts are leads."""
    if known is None:
        row = replace(new_row(desk, paid), reason=ZERO)
        payments.stage(row, aliases=[paid.external_id, *paid.aliases])
    origins.stage(desk, paid.origin, told_at=paid.paid_at)
    return _lead(desk, paid.origin, paid.paid_at) if desk.has_trials else Booking(reason=ZERO)


def _lead(desk: BookingDesk, origin: BuyerOrigin, at: datetime) -> Booking:
    completed = origins.completed(desk, origin)
    found = whom.of(desk, completed, at)
    if found.named is None or not found.is_attributed:
        return Booking(reason=found.reason)
    if completed.email is None:
        return Booking(reason="no_email")
    referral = lifecycle.find_referral(
        organization_id=desk.organization_id,
        program_id=found.named.program_id,
        affiliate_id=found.named.affiliate_id,
    )
    assert referral is not None  # they were found in this transaction
    signup = lifecycle.NewLead(
        email=completed.email,
        name=completed.name,
        occurred_at=at,
        is_test=whom.is_test(desk, completed),
        # Not by an event: a subscription and its invoice of nothing are one start of one person.
        external_event_id=None,
        sub_id=found.decision.sub_id,
        coupon_code=found.code.text if found.code else None,
        affiliate_coupon_id=found.code.id if found.code else None,
    )
    recorded = lifecycle.record(organization_id=desk.organization_id, referral=referral, signup=signup, now=desk.now)
    if recorded.is_new:
        _stage_redeemed(desk, found, at)
        # Those that were booked before their buyer's lead was known.
        who = payments.Payer(completed.customer_id, completed.subscription_id, whom.inbox_of(completed))
        desk.look_again_at_payments(who, at)
    return Booking(reason=None if recorded.is_new else "known", conversion_id=recorded.lead_id)


def _own_rate(code: RedeemableCode | None) -> CommissionRate | None:
    if code is None or code.commission_type is None or code.commission_value is None:
        return None
    return CommissionRate(CommissionType(code.commission_type), code.commission_value, source="coupon")


def _stage_redeemed(desk: BookingDesk, found: whom.Credit, at: datetime) -> None:
    if found.code is not None:
        affiliate_coupons.stage_redeemed(organization_id=desk.organization_id, code_id=found.code.id, at=at)


def new_row(desk: BookingDesk, paid: PaymentFact) -> GatewayPayment:
    """Return the row of a payment that is not known, before anybody is credited for it."""
    told = totals.of_payment(paid)
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
        email_normalized=whom.inbox_of(paid.origin),
        subscription_id=paid.origin.subscription_id,
        is_test=whom.is_test(desk, paid.origin),
        paid_at=paid.paid_at,
        created_at=desk.now,
        order_id=paid.order_id,
        told_at=paid.told_at,
        total_cents=told.total_cents if told else None,
    )
