"""Whom a payment credits, why, and what follows from it: the lead it converts, the row of one who could not earn.

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
from models.conversions import explanations, uncredited
from models.conversions.explanations import StoredAttribution
from models.conversions.sales import SaleFacts
from models.conversions.uncredited import DroppedSale
from pipelines.leads import lifecycle


def decide(facts: Facts) -> Decision:
    """Return whom a payment credits; `facts` are of one organization and of the moment of the payment."""
    return attribution.decide(facts)


def of_sale(facts: SaleFacts) -> Decision | None:
    """Return the decision on a signed sale; None when the sale says it all, for its buyer is nobody's lead.

    Its affiliate was Approved when it was accepted, which is the sale's time.
    """
    if facts.lead is None:
        return None
    named = NamedAffiliate(facts.affiliate_id, AffiliateStatus.Approved, email=facts.terms.affiliate_email_normalized)
    lead = facts.lead
    # Somebody else is not credited here: what they are by now says nothing.
    whose = named if lead.affiliate_id == named.id else NamedAffiliate(lead.affiliate_id, AffiliateStatus.Approved)
    return decide(
        Facts(
            paid_at=facts.accepted_at,
            buyer_email=emails.normalize(facts.customer_email or ""),
            sub_id=facts.sub_id,
            referral=Referral(named, method=None),
            lead=Lead(lead.id, whose, lead.occurred_at, lead.sub_id),
        )
    )


def stage_effects(decision: Decision, *, organization_id: UUID, conversion_id: UUID, now: datetime) -> None:
    """Stage what a decision means beside its conversion: the lead has become a sale."""
    if decision.lead_id is not None:
        lifecycle.stage_convert(
            organization_id=organization_id, lead_id=decision.lead_id, conversion_id=conversion_id, now=now
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Payment:
    """A payment as its source knows it. Money is minor units of `currency`, `occurred_at` aware UTC."""

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
    dropped = decision.uncredited
    assert dropped is not None
    uncredited.stage_insert(
        DroppedSale(
            id=ids.new_id(),
            organization_id=payment.organization_id,
            program_id=program_id,
            affiliate_id=dropped.affiliate_id,
            source=payment.source,
            external_event_id=payment.external_event_id,
            amount_cents=payment.amount_cents,
            currency=payment.currency,
            reason=dropped.reason,
            affiliate_status_at_drop=dropped.affiliate_status,
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
    """Return why a conversion was credited as it was; None when there is no such conversion."""
    stored = explanations.find(organization_id=organization_id, conversion_id=conversion_id)
    if stored is None:
        return None
    return Explanation(
        conversion_id=stored.id,
        affiliate_id=stored.affiliate_id,
        attribution_method=stored.attribution_method,
        decided_at=stored.decided_at,
        steps=log.read(stored.attribution_log) if stored.attribution_log else origin.explain(_origin(stored)),
    )


def _origin(stored: StoredAttribution) -> origin.Origin:
    return origin.Origin(
        affiliate_id=stored.affiliate_id,
        method=stored.attribution_method,
        decided_at=stored.decided_at,
        parent_id=stored.parent_id,
        seller_id=stored.seller_id,
        recorded_by=stored.recorded_by,
    )
