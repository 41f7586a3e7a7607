"""The order of the attribution steps: the first that names an affiliate decides, even if that affiliate earns nothing.

Source: tracking spec, section 8 "Lead attribution order".
"""

from dataclasses import dataclass
from uuid import UUID

from domain.attribution import email_match, self_referrals, steps
from domain.attribution.facts import Facts, Lead, NamedAffiliate
from domain.attribution.steps import Outcome, StepMatch, StepSkip
from domain.statuses import AffiliateStatus

#: Run in this order. A stored log has one entry for each.
STEPS = (
    steps.COUPON_OVERRIDE,
    steps.CARRIED_REFERRAL,
    steps.CUSTOMER_HISTORY,
    steps.COUPON,
    email_match.EMAIL_MATCH,
    steps.PLATFORM_LOOKUP,
)
DECIDED_EARLIER = "decided_earlier"
NOT_ACTIVE = "affiliate_not_active"
_CODE_MATCHES = (*steps.COUPON_OVERRIDE.matches, *steps.COUPON.matches)


@dataclass(frozen=True, slots=True)
class Uncredited:
    """Why a payment credits no one although a step named an affiliate."""

    affiliate_id: UUID
    affiliate_status: str
    reason: str


@dataclass(frozen=True, slots=True)
class Decision:
    """The affiliate whom a payment credits, and the outcome of every step in the order of STEPS.

    Without `affiliate_id` it credits no one: `uncredited` says why, or no step named an affiliate. `sub_id` is the
    payment's own channel tag, else the lead's. `lead_id` is the lead that the payment converts.
    """

    steps: tuple[Outcome, ...]
    affiliate_id: UUID | None = None
    method: str | None = None
    uncredited: Uncredited | None = None
    sub_id: str | None = None
    lead_id: UUID | None = None


def decide(facts: Facts) -> Decision:
    """Return whom a payment credits. An affiliate who is not Approved earns nothing, and no one else does instead."""
    outcomes: list[Outcome] = []
    match: StepMatch | None = None
    for step in STEPS:
        outcome = step.look(facts) if match is None else _skip(step, facts, match.affiliate)
        outcomes.append(outcome)
        if isinstance(outcome, StepMatch):
            match = outcome
    return _to_decision(facts, tuple(outcomes), match)


def _skip(step: steps.AttributionStep, facts: Facts, winner: NamedAffiliate) -> StepSkip:
    """Return the outcome of a step after another has decided; the email match still reports on the buyer's lead."""
    lead = email_match.compare_lead(facts, winner) if step is email_match.EMAIL_MATCH else None
    return lead or StepSkip(DECIDED_EARLIER)


def _to_decision(facts: Facts, outcomes: tuple[Outcome, ...], match: StepMatch | None) -> Decision:
    if match is None:
        return Decision(outcomes, sub_id=facts.sub_id)
    winner = match.affiliate
    if winner.status != AffiliateStatus.Approved:
        return Decision(outcomes, uncredited=Uncredited(winner.id, winner.status, NOT_ACTIVE), sub_id=facts.sub_id)
    lead = _find_lead_of(facts, winner)
    return Decision(
        outcomes,
        affiliate_id=winner.id,
        method=_choose_method(facts, match),
        sub_id=facts.sub_id or (lead.sub_id if lead else None),
        lead_id=lead.id if lead else None,
    )


def _choose_method(facts: Facts, match: StepMatch) -> str | None:
    """Return the method of a match: self_referral at a gateway where the buyer is the affiliate and no code decides."""
    is_by_code = match.code in _CODE_MATCHES or match.method == steps.WITH_OWN_CODE
    if facts.gateway is None or is_by_code:
        return match.method
    is_own = self_referrals.is_self_referral(buyer_email=facts.buyer_email, affiliate_email=match.affiliate.email)
    return self_referrals.METHOD if is_own else match.method


def _find_lead_of(facts: Facts, winner: NamedAffiliate) -> Lead | None:
    """Return the buyer's lead if it is the winner's, whichever step decided."""
    outcome = email_match.match_lead(facts)
    return facts.lead if isinstance(outcome, StepMatch) and outcome.affiliate.id == winner.id else None
