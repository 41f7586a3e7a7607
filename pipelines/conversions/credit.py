"""The affiliate whom a payment credits, why, and the effects: the converted lead, the row of an uncredited sale.

Source: tracking spec, section 8 "Lead attribution order"; "Server-to-server sale body" (channel tag).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from domain import attribution, emails
from domain.attribution import Decision, Facts, Lead, NamedAffiliate, Referral, log, origin
from domain.attribution.log import LogLine
from domain.statuses import AffiliateStatus
from models import ids
from models.conversions import explanations, uncredited_sales
from models.conversions.explanations import StoredAttribution
from models.conversions.sales import SaleFacts
from models.conversions.uncredited_sales import DroppedSale
from pipelines.leads import lifecycle


def decide(facts: Facts) -> Decision:
    """Return whom a payment credits; `facts` are of one organization at the time of the payment."""
    return attribution.decide(facts)


def decide_sale(facts: SaleFacts) -> Decision | None:
    """Return the decision on a signed sale; None if its buyer is no lead, so the sale's own affiliate is credited.

    The affiliate was Approved when the sale was accepted, which is the sale's time.
    """
    if facts.lead is None:
        return None
    affiliate = NamedAffiliate(
        facts.affiliate_id, AffiliateStatus.Approved, email=facts.terms.affiliate_email_normalized
    )
    lead = facts.lead
    # The other affiliate is not credited, so their current status is irrelevant.
    lead_affiliate = (
        affiliate if lead.affiliate_id == affiliate.id else NamedAffiliate(lead.affiliate_id, AffiliateStatus.Approved)
    )
    return decide(
        Facts(
            paid_at=facts.accepted_at,
            buyer_email=emails.normalize(facts.customer_email or ""),
            sub_id=facts.sub_id,
            referral=Referral(affiliate, method=None),
            lead=Lead(lead.id, lead_affiliate, lead.occurred_at, lead.sub_id),
        )
    )


def stage_effects(decision: Decision, *, organization_id: UUID, conversion_id: UUID, now: datetime) -> None:
    """Stage the effect of a decision apart from its conversion: the lead is converted."""
    if decision.lead_id is not None:
        lifecycle.stage_convert(
            organization_id=organization_id, lead_id=decision.lead_id, conversion_id=conversion_id, now=now
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Payment:
    """A payment as its source reported it. Money is minor units of `currency`, `occurred_at` aware UTC."""

    organization_id: UUID
    source: str
    external_event_id: str
    amount_cents: int
    currency: str
    is_test: bool
    occurred_at: datetime


def stage_uncredited(payment: Payment, decision: Decision, *, program_id: UUID) -> None:
    """Stage the row of a payment whose affiliate, one of this program, cannot earn.

    Once per source and external event id.
    """
    refusal = decision.uncredited
    assert refusal is not None
    uncredited_sales.stage_insert(
        DroppedSale(
            id=ids.new_id(),
            organization_id=payment.organization_id,
            program_id=program_id,
            affiliate_id=refusal.affiliate_id,
            source=payment.source,
            external_event_id=payment.external_event_id,
            amount_cents=payment.amount_cents,
            currency=payment.currency,
            reason=refusal.reason,
            affiliate_status_at_drop=refusal.affiliate_status,
            is_test=payment.is_test,
            occurred_at=payment.occurred_at,
            attribution_log=log.serialize(decision.steps),
        )
    )


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a conversion is credited to its affiliate, step by step. `decided_at` is aware UTC."""

    conversion_id: UUID
    affiliate_id: UUID
    attribution_method: str | None
    decided_at: datetime
    steps: Sequence[LogLine]


def explain(*, organization_id: UUID, conversion_id: UUID) -> Explanation | None:
    """Return why a conversion's affiliate was credited; None if there is no such conversion."""
    row = explanations.find(organization_id=organization_id, conversion_id=conversion_id)
    if row is None:
        return None
    return Explanation(
        conversion_id=row.id,
        affiliate_id=row.affiliate_id,
        attribution_method=row.attribution_method,
        decided_at=row.decided_at,
        steps=log.read(row.attribution_log) if row.attribution_log else origin.explain(_origin_from_row(row)),
    )


def _origin_from_row(row: StoredAttribution) -> origin.Origin:
    return origin.Origin(
        affiliate_id=row.affiliate_id,
        method=row.attribution_method,
        decided_at=row.decided_at,
        parent_id=row.parent_id,
        seller_id=row.seller_id,
        recorded_by=row.recorded_by,
    )
