"""A signed sale: accepted at once, settled into a priced conversion by a worker.

Source: tracking spec, "Server-to-server sale body", "Server-to-server sale" and section 7 "Errors".
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from domain import emails, statuses
from domain.attribution import Candidate, Decision, Facts, Referral, log
from domain.conversions import commission, customers, recurring
from domain.refused import Refused
from models import ids
from models.conversions import conversions, sales
from models.jobs import rows
from models.programs import programs
from pipelines import earn, jobs
from pipelines.conversions import attribution
from pipelines.programs import standing

SOURCE = "s2s"


@dataclass(frozen=True, slots=True)
class Recorded:
    """What became of a posted sale: a new conversion id, a known sale (no id), or a refusal that left a row."""

    conversion_id: UUID | None = None
    refusal: Refused | None = None


def record(*, organization_id: UUID, sale: Mapping[str, Any], is_test: bool, now: datetime) -> Recorded:
    """Accept a validated sale once and queue its settlement.

    `sale` is `SaleBody` loaded. Idempotent per organization and external event id, for ever; a known
    sale is recognised before anything about its affiliate is asked, so a retry never turns into an error.
    Budget: 3 round trips (look up; insert; job and commit).
    Raises Refused: affiliate_not_found, no_active_program, not_a_sale_campaign.
    """
    referral = sales.look_up(
        organization_id=organization_id, external_event_id=sale["external_event_id"], slug=sale["affiliate_slug"]
    )
    if referral.known_sale_id is not None:
        _backfill_override(organization_id, referral.known_sale_id)
        return Recorded()
    _refuse_what_cannot_sell(referral)
    if referral.affiliate_status != statuses.AffiliateStatus.Approved:
        return _uncredited(organization_id, sale, referral, is_test, now)
    accepted = _accepted(organization_id, sale, referral, is_test, now)
    if not sales.insert(accepted):
        return Recorded()
    if accepted.customer_key is not None:
        sales.stage_payment(accepted)
    jobs.enqueue(jobs.SALE_SETTLE, organization_id=organization_id, sale_id=accepted.id)
    return Recorded(conversion_id=accepted.id)


def _backfill_override(organization_id: UUID, conversion_id: UUID) -> None:
    """Give an override that could not be written another chance whenever its sale is sent again."""
    rows.stage_revive(organization_id=organization_id, name=jobs.OVERRIDE_WRITE.name, conversion_id=conversion_id)


def settle(*, organization_id: UUID, sale_id: UUID, now: datetime) -> None:
    """Price an accepted sale and write its conversion, ledger entry, event and override job; convert the buyer's lead.

    Idempotent: a sale that has its conversion is left alone. A read or a refund that comes first calls this inline
    under the same lock. Terms are those in force now.
    Budget: 2 round trips (facts; writes and commit), three more in a campaign with performance tiers, and a fourth
    while tiers are in a former home currency.
    """
    facts = sales.lock_unsettled(organization_id=organization_id, sale_id=sale_id)
    if facts is None:
        return
    rate = rate_of(organization_id, facts)
    commission_cents = commission_of(facts, rate)
    kind = recurring.conversion_type(facts.customer_ordinal)
    decision = attribution.of_sale(facts)
    conversion = conversion_of(organization_id, facts, rate, commission_cents, kind, decision=decision)
    conversions.stage_insert(conversion)
    earn.stage(conversion, now=now)
    conversions.stage_revenue(conversion, amount_cents=conversion.amount_cents)
    sales.stage_settled(organization_id=organization_id, sale_id=sale_id, settled_at=now)
    if decision is not None:
        attribution.stage_effects(decision, organization_id=organization_id, conversion_id=sale_id, now=now)
    enqueue_override(facts, conversion)


def settle_if_waiting(*, organization_id: UUID, conversion_id: UUID, now: datetime) -> bool:
    """Settle inline when this id was given out and its conversion does not exist yet; say whether it was so."""
    is_waiting = sales.is_unsettled(organization_id=organization_id, sale_id=conversion_id)
    if is_waiting:
        settle(organization_id=organization_id, sale_id=conversion_id, now=now)
    return is_waiting


def _refuse_what_cannot_sell(referral: sales.Referral) -> None:
    if referral.affiliate_id is None:
        raise Refused(
            400,
            "affiliate_not_found",
            "affiliateSlug matches no tracking link of this organization.",
            field="affiliateSlug",
        )
    if not referral.is_program_open:
        raise Refused(400, "no_active_program", "The affiliate's campaign is inactive, archived or suspended.")
    if not statuses.pays_on_sale(referral.commission_model or "") and not referral.has_sale_leg:
        raise Refused(
            400, "not_a_sale_campaign", "The affiliate's campaign pays for clicks or leads and has no sale commission."
        )


def _uncredited(
    organization_id: UUID, sale: Mapping[str, Any], referral: sales.Referral, is_test: bool, now: datetime
) -> Recorded:
    assert referral.program_id is not None
    assert referral.affiliate_id is not None
    named = Candidate(referral.affiliate_id, referral.affiliate_status or "")
    payment = attribution.Payment(
        organization_id=organization_id,
        source=SOURCE,
        external_event_id=sale["external_event_id"],
        amount_cents=sale["amount_cents"],
        currency=sale["currency"],
        is_test=is_test,
        occurred_at=now,
    )
    decision = attribution.decide(Facts(paid_at=now, referral=Referral(named, method=None)))
    attribution.stage_uncredited(payment, decision, program_id=referral.program_id)
    message = f"The affiliate is {referral.affiliate_status}, not Approved; the sale is listed as uncredited."
    return Recorded(refusal=Refused(400, "affiliate_not_active", message, field="affiliateSlug"))


def _accepted(
    organization_id: UUID, sale: Mapping[str, Any], referral: sales.Referral, is_test: bool, now: datetime
) -> sales.Sale:
    assert referral.program_id is not None
    assert referral.affiliate_id is not None
    return sales.Sale(
        id=ids.new_id(),
        organization_id=organization_id,
        external_event_id=sale["external_event_id"],
        program_id=referral.program_id,
        affiliate_id=referral.affiliate_id,
        amount_cents=sale["amount_cents"],
        currency=sale["currency"],
        customer_id=sale["customer_id"],
        customer_key=customers.key(customer_id=sale["customer_id"], email=sale["customer_email"], is_test=is_test),
        customer_name=sale["customer_name"],
        customer_email=sale["customer_email"],
        email_normalized=emails.normalize(sale["customer_email"]) if sale["customer_email"] else None,
        customer_avatar_url=sale["customer_avatar_url"],
        sub_id=sale["sub_id"],
        is_test=is_test,
        accepted_at=now,
    )


def rate_of(organization_id: UUID, facts: sales.Facts) -> commission.Rate:
    """Return the rate that a sale earns by, on the terms in force now."""
    terms = facts.terms
    if (
        terms.sale_leg_type is not None
        and terms.sale_leg_value is not None
        and not statuses.pays_on_sale(terms.commission_model)
    ):
        # Partner-specific rates never apply to the sale leg of a click or lead campaign.
        return commission.Rate(
            type=commission.CommissionType(terms.sale_leg_type),
            value=terms.sale_leg_value,
            source="program_sale_leg",
        )
    stands = _standing(organization_id, facts)
    return commission.choose_rate(
        commission.RateFacts(
            custom_type=_type(terms.custom_type),
            custom_value=terms.custom_value,
            group_type=_type(terms.group_type),
            group_value=terms.group_value,
            tiers=stands.tiers,
            tier_revenue_cents=stands.revenue_cents,
            home_currency=stands.home_currency,
            per_usd=stands.per_usd,
            default_type=commission.CommissionType(terms.default_type),
            default_value=terms.default_value,
        )
    )


def _type(value: str | None) -> commission.CommissionType | None:
    return commission.CommissionType(value) if value is not None else None


def _standing(organization_id: UUID, facts: sales.Facts) -> standing.Standing:
    if not facts.terms.has_tiers:
        return standing.Standing()
    programs.stage_affiliate_turn(organization_id=organization_id, affiliate_id=facts.affiliate_id)
    return standing.of(organization_id=organization_id, program_id=facts.program_id, affiliate_id=facts.affiliate_id)


def commission_of(facts: sales.Facts, rate: commission.Rate) -> int:
    """Return what a sale earns at a rate, in minor units of its currency: nothing outside its customer's window."""
    window = recurring.WindowFacts(
        first_paid_at=facts.first_paid_at,
        ordinal=facts.customer_ordinal,
        recurring_months=facts.terms.recurring_months,
        recurring_delay_invoices=facts.terms.recurring_delay_invoices,
    )
    if not recurring.earns(window, paid_at=facts.accepted_at):
        return 0
    return commission.price(rate=rate, amount_cents=facts.amount_cents, currency=facts.currency)


def conversion_of(
    organization_id: UUID,
    facts: sales.Facts,
    rate: commission.Rate | None,
    commission_cents: int,
    conversion_type: str,
    *,
    source: str = SOURCE,
    decision: Decision | None = None,
) -> conversions.Conversion:
    """Return the Pending conversion of a sale; without a rate its commission is what the source itself says.

    `decision` is why its affiliate is credited, where the sale alone does not say it.
    """
    return conversions.Conversion(
        id=facts.sale_id,
        organization_id=organization_id,
        program_id=facts.program_id,
        affiliate_id=facts.affiliate_id,
        source=source,
        external_event_id=facts.external_event_id,
        amount_cents=facts.amount_cents,
        currency=facts.currency,
        commission_cents=commission_cents,
        status=statuses.ConversionStatus.Pending.value,
        type=conversion_type,
        rate_source=rate.source if rate else source,
        rate_type=rate.type.value if rate else None,
        rate_value=rate.value if rate else None,
        is_test=facts.is_test,
        occurred_at=facts.accepted_at,
        hold_until=facts.accepted_at + timedelta(days=facts.terms.grace_days),
        created_at=facts.accepted_at,
        sub_id=decision.sub_id if decision else facts.sub_id,
        attribution_method=decision.method if decision else None,
        attribution_log=log.written(decision.steps) if decision else None,
        processor_customer_id=facts.customer_id,
        customer_name=facts.customer_name,
        customer_email=facts.customer_email,
        customer_avatar_url=facts.customer_avatar_url,
    )


def enqueue_override(facts: sales.Facts, conversion: conversions.Conversion) -> None:
    """Stage the job for the recruiter's share, where there is a recruiter and something to share."""
    if facts.terms.recruiter_id is None or not facts.terms.override_percent or conversion.commission_cents == 0:
        return
    jobs.enqueue(
        jobs.OVERRIDE_WRITE,
        organization_id=conversion.organization_id,
        conversion_id=conversion.id,
        recruiter_id=facts.terms.recruiter_id,
        percent=facts.terms.override_percent,
    )
