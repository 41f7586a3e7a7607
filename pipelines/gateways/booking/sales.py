"""Books payments as conversions of the credited affiliate, each once, and starts without money as their leads.

Source: tracking spec, section 8 "Lead attribution order", "Attribution method taxonomy"; core spec, "Program fields".
"""

from dataclasses import replace
from datetime import datetime

from domain.conversions import avatars, recurring
from domain.conversions.commission import CommissionRate, CommissionType
from domain.gateways import basis
from domain.gateways.facts import BuyerOrigin, PaymentFact, StartFact
from domain.statuses import Payability
from models import ids
from models.conversions import customers
from models.conversions.conversions import Conversion
from models.conversions.sales import SaleFacts
from models.coupons import affiliate_coupons
from models.gateways import payments
from models.gateways.credit_candidates import CreditCandidate, RedeemableCode
from models.gateways.payments import GatewayPayment
from pipelines import earnings
from pipelines.conversions import credit, price, settlement
from pipelines.conversions.price import Price
from pipelines.gateways.booking import attribution, earlier, order_parts, origins, reversals, totals
from pipelines.gateways.booking.context import BookingContext, FactResult
from pipelines.leads import lifecycle

#: Reasons of a payment: nothing was paid; it could only be credited by history.
ZERO, HISTORY_ONLY = "zero_amount", "history_only"


def book_payment(context: BookingContext, fact: PaymentFact) -> FactResult:
    """Book a payment: once by its external id, however many events report it.

    A payment that credited no affiliate is decided again when it is reported again, or when an earlier payment of its
    customer is credited. Platforms are queried about a payment that credits no one. A further payment of an order whose
    first one is credited is added to that one's conversion. For a known payment its order's new total is booked.
    Budget: 2 round trips (stored context; affiliate), one more where events waited for it, one where it names a store's
    checkout, one where its buyer's referral was made days later, and one where it is decided again; the writes travel
    with the next statement or the commit. For a further payment those of `order_parts.add_payment`. Raises TryAgain.
    """
    all_ids = list_ids(fact)
    stored = payments.lock_context(build_query(context, fact), organization_id=context.organization_id)
    existing = stored.payment
    if existing is not None:
        existing = _with_total(context, existing, fact)
    if existing is not None and not _may_be_credited(existing):
        payments.stage_aliases(existing, all_ids)
        if stored.is_awaited:
            context.release_parked(all_ids)
        return FactResult(reason=existing.reason, conversion_id=existing.conversion_id)
    if existing is not None:
        fact = _wait_for_turn(context, fact, existing)
    elif totals.is_cancelled(fact, stored.state):
        context.stage_parked(all_ids)
        return FactResult(reason=totals.CANCELLED)
    if fact.amount_cents == 0:
        if stored.is_awaited:
            context.release_parked(all_ids)
        return _book_zero(context, fact, existing)
    row = existing or build_row(context, fact)
    if reason := earlier.find_reason(context, row, stored):
        return earlier.book(context, row, reason, all_ids)
    if stored.order_conversion_id is not None:
        row_of_order = order_parts.add_payment(context, fact, row, stored.order_conversion_id, aliases=all_ids)
        if row_of_order is not None:
            if existing is not None:
                reversals.apply_earlier_reversals(context, row_of_order)
            if stored.is_awaited or existing is not None:
                context.release_parked(all_ids, credited=row_of_order)
            return FactResult(conversion_id=row_of_order.conversion_id)
    fact = replace(fact, origin=origins.add_checkout(context, fact.origin))
    if stored.origins:
        referrals = origins.select_counting(context, stored.origins, fact.paid_at)
        fact = replace(fact, origin=origins.add_carriers(fact.origin, referrals))
    credit_ = attribution.decide(context, fact.origin, fact.paid_at)
    row = replace(row, reason=credit_.reason)
    if credit_.candidate is not None:
        row = book_conversion(context, fact, row, credit_, credit_.candidate)
    payments.stage(row, aliases=all_ids)
    if existing is None:
        row = totals.apply_state(context, row, stored.state)
    elif row.conversion_id is not None:
        reversals.apply_earlier_reversals(context, row)
    if stored.is_awaited or existing is not None:
        context.release_parked(all_ids, credited=row if row.conversion_id else None)
    if credit_.reason == attribution.NO_REFERRAL and (existing is None or existing.email_normalized is None):
        context.enqueue_lookup(fact, row)
    if credit_.reason == attribution.NO_REFERRAL:
        origins.stage_awaited(context, fact.origin)
    return FactResult(reason=reason_of(fact, credit_), conversion_id=row.conversion_id)


def book_start(context: BookingContext, fact: StartFact) -> FactResult:
    """Book a trial or a free signup: a lead without commission where it credits an affiliate, once per person.

    Who referred the customer is stored for later payments.
    """
    origins.stage(context, fact.origin, told_at=fact.started_at)
    if not context.has_trials:
        return FactResult(reason=ZERO)
    return _book_lead(context, fact.origin, fact.started_at)


def build_query(context: BookingContext, fact: PaymentFact) -> payments.PaymentQuery:
    """Return the query for what is stored about a payment, its buyer and its order."""
    return payments.PaymentQuery(
        gateway=context.gateway,
        aliases=list_ids(fact),
        subjects=origins.list_subjects(fact.origin),
        who=payments.Payer(
            fact.origin.customer_id,
            fact.origin.subscription_id,
            attribution.normalize_email(fact.origin),
            fact.order_id,
        ),
        paid_at=fact.paid_at,
    )


def _with_total(context: BookingContext, existing: GatewayPayment, fact: PaymentFact) -> GatewayPayment:
    """Book the new total of a known payment's order; return the updated payment."""
    total = totals.total_from_payment(fact)
    return (
        existing
        if total is None or existing.reason in earlier.REASONS
        else totals.apply_total(context, existing, total)
    )


def _may_be_credited(existing: GatewayPayment) -> bool:
    """Return whether a known payment may still credit an affiliate: it named none, or it was zero and is paid now."""
    return existing.reason == attribution.NO_REFERRAL or (existing.reason == ZERO and existing.paid_cents > 0)


def _wait_for_turn(context: BookingContext, fact: PaymentFact, existing: GatewayPayment) -> PaymentFact:
    """Return a payment that is decided again, with its stored amount.

    Raises TryAgain while earlier payments of its buyer are about to be decided again. Budget: 1 statement.
    """
    context.wait_for_earlier_retries(existing)
    return totals.with_known_amount(fact, existing)


def list_ids(fact: PaymentFact) -> list[str]:
    """Return all ids that a payment may be named by, its own first."""
    return list(dict.fromkeys([fact.external_id, *fact.aliases]))


def reason_of(fact: PaymentFact, credit_: attribution.Credit) -> str | None:
    """Return why a payment earns no commission, or that its referral was lost; None for neither."""
    is_lost = fact.origin.is_referral_lost and credit_.reason in (None, attribution.NO_REFERRAL)
    return HISTORY_ONLY if is_lost else credit_.reason


def book_conversion(
    context: BookingContext,
    fact: PaymentFact,
    row: GatewayPayment,
    credit_: attribution.Credit,
    candidate: CreditCandidate,
) -> GatewayPayment:
    """Stage the conversion of a payment, or that it is uncredited; return its row with the conversion.

    Budget: none; 3 round trips in a campaign with performance tiers, as `price.price_sale`.
    """
    if not credit_.is_attributed:
        uncredited = credit.Payment(
            organization_id=context.organization_id,
            source=context.gateway,
            external_event_id=fact.external_id,
            amount_cents=fact.amount_cents,
            currency=fact.currency,
            is_test=row.is_test,
            occurred_at=fact.paid_at,
        )
        credit.stage_uncredited(uncredited, credit_.decision, program_id=candidate.program_id)
        return row
    conversion = _build_conversion(context, fact, row, credit_, candidate)
    _stage_earnings(context, fact, credit_, candidate, conversion)
    return replace(row, conversion_id=conversion.id)


def _build_conversion(
    context: BookingContext,
    fact: PaymentFact,
    row: GatewayPayment,
    credit_: attribution.Credit,
    candidate: CreditCandidate,
) -> Conversion:
    """Return the conversion of a payment, with commission 0 where the campaign does not pay for sales.

    Budget: as `book_conversion`.
    """
    origin = fact.origin
    facts = _build_sale_facts(context, fact, row, candidate)
    is_paid = credit_.reason is None
    conversion = settlement.build_conversion(
        facts,
        price.price_sale(facts, _own_rate(credit_.code)) if is_paid else Price(rate=None, commission_cents=0),
        type=recurring.conversion_type(candidate.ordinal),
        source=context.gateway,
        decision=credit_.decision,
    )
    return replace(
        conversion,
        created_at=context.now,
        payability=(Payability.payable if is_paid else Payability.not_paid_on_campaign).value,
        processor_subscription_id=origin.subscription_id,
        customer_avatar_url=avatars.url_from_email(origin.email) if origin.email else None,
        coupon_code=credit_.code.text if credit_.code else None,
        affiliate_coupon_id=credit_.code.id if credit_.code else None,
    )


def _stage_earnings(
    context: BookingContext,
    fact: PaymentFact,
    credit_: attribution.Credit,
    candidate: CreditCandidate,
    conversion: Conversion,
) -> None:
    """Stage a payment's conversion with everything that follows from it."""
    customers.stage_count(
        attribution.customer_names(context, fact.origin),
        organization_id=context.organization_id,
        program_id=candidate.program_id,
        paid_at=fact.paid_at,
        ordinal=candidate.ordinal,
        joins_subscription=candidate.joins_subscription,
    )
    earnings.write(conversion, share=candidate.terms.recruiter_share, terms=candidate.terms, now=context.now)
    credit.stage_effects(
        credit_.decision, organization_id=context.organization_id, conversion_id=conversion.id, now=context.now
    )
    _stage_redeemed(context, credit_, fact.paid_at)


def _build_sale_facts(
    context: BookingContext, fact: PaymentFact, row: GatewayPayment, candidate: CreditCandidate
) -> SaleFacts:
    return SaleFacts(
        sale_id=row.id,
        organization_id=context.organization_id,
        external_event_id=fact.external_id,
        program_id=candidate.program_id,
        affiliate_id=candidate.affiliate_id,
        amount_cents=basis.sale_cents(
            candidate.commission_basis, paid_cents=fact.amount_cents, net_cents=fact.net_cents
        ),
        currency=fact.currency,
        customer_id=fact.origin.customer_id,
        customer_name=fact.origin.name,
        customer_email=fact.origin.email,
        customer_avatar_url=None,
        sub_id=None,
        is_test=row.is_test,
        accepted_at=fact.paid_at,
        customer_ordinal=candidate.ordinal,
        first_paid_at=candidate.first_paid_at,
        terms=candidate.terms,
    )


def _book_zero(context: BookingContext, fact: PaymentFact, existing: GatewayPayment | None) -> FactResult:
    """Book a payment of 0: it is never a sale, and a lead where this gateway's starts are leads."""
    if existing is None:
        payments.stage(replace(build_row(context, fact), reason=ZERO), aliases=list_ids(fact))
    origins.stage(context, fact.origin, told_at=fact.paid_at)
    return _book_lead(context, fact.origin, fact.paid_at) if context.has_trials else FactResult(reason=ZERO)


def _book_lead(context: BookingContext, origin: BuyerOrigin, at: datetime) -> FactResult:
    complete_origin = origins.add_referrals(context, origin)
    credit_ = attribution.decide(context, complete_origin, at)
    if credit_.candidate is None or not credit_.is_attributed:
        return FactResult(reason=credit_.reason)
    if complete_origin.email is None:
        return FactResult(reason="no_email")
    referral = lifecycle.find_referral(
        organization_id=context.organization_id,
        program_id=credit_.candidate.program_id,
        affiliate_id=credit_.candidate.affiliate_id,
    )
    assert referral is not None  # program and affiliate were read in this transaction
    signup = lifecycle.NewLead(
        email=complete_origin.email,
        name=complete_origin.name,
        occurred_at=at,
        is_test=attribution.is_test(context, complete_origin),
        # No event id: a subscription and its invoice of 0 are one start of one person.
        external_event_id=None,
        sub_id=credit_.decision.sub_id,
        coupon_code=credit_.code.text if credit_.code else None,
        affiliate_coupon_id=credit_.code.id if credit_.code else None,
    )
    lead = lifecycle.record(organization_id=context.organization_id, referral=referral, signup=signup, now=context.now)
    if lead.is_new:
        _stage_redeemed(context, credit_, at)
        email = attribution.normalize_email(complete_origin)
        payer = payments.Payer(complete_origin.customer_id, complete_origin.subscription_id, email)
        context.retry_uncredited_payments(payer, at)  # those booked before their buyer's lead was known
    return FactResult(reason=None if lead.is_new else "known", conversion_id=lead.lead_id)


def _own_rate(code: RedeemableCode | None) -> CommissionRate | None:
    if code is None or code.commission_type is None or code.commission_value is None:
        return None
    return CommissionRate(CommissionType(code.commission_type), code.commission_value, source="coupon")


def _stage_redeemed(context: BookingContext, credit_: attribution.Credit, at: datetime) -> None:
    if credit_.code is not None:
        affiliate_coupons.stage_redeemed(organization_id=context.organization_id, code_id=credit_.code.id, at=at)


def build_row(context: BookingContext, fact: PaymentFact) -> GatewayPayment:
    """Return the row of a new payment, before it credits an affiliate."""
    total = totals.total_from_payment(fact)
    return GatewayPayment(
        id=ids.new_id(),
        organization_id=context.organization_id,
        gateway=context.gateway,
        external_id=fact.external_id,
        event_id=context.event.id,
        conversion_id=None,
        reason=None,
        paid_cents=fact.amount_cents,
        refunded_cents=0,
        currency=fact.currency,
        reread_cents=None,
        reread_at=None,
        customer_id=fact.origin.customer_id,
        email_normalized=attribution.normalize_email(fact.origin),
        subscription_id=fact.origin.subscription_id,
        is_test=attribution.is_test(context, fact.origin),
        paid_at=fact.paid_at,
        created_at=context.now,
        order_id=fact.order_id,
        told_at=fact.told_at,
        total_cents=total.total_cents if total else None,
    )
