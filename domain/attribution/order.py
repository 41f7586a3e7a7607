"""Puts the six steps in their order: the first that names somebody decides, even where that person earns nothing.

Source: tracking spec, section 8 "Lead attribution order".
"""

from dataclasses import dataclass
from uuid import UUID

from domain.attribution import (
    beside_coupon,
    carried_referral,
    coupon,
    coupon_override,
    customer_history,
    email_match,
    platform_lookup,
    self_referrals,
)
from domain.attribution.facts import Facts, Lead, NamedAffiliate
from domain.attribution.outcome import Matched, Outcome, Skipped
from domain.statuses import AffiliateStatus

#: In the order in which they are asked. A stored log has one entry for each.
STEPS = (coupon_override, carried_referral, customer_history, coupon, email_match, platform_lookup)
DECIDED_EARLIER = "decided_earlier"
NOT_ACTIVE = "affiliate_not_active"
_BY_CODE = (*coupon_override.MATCHES, *coupon.MATCHES)


@dataclass(frozen=True, slots=True)
class Uncredited:
    """Why a payment credits nobody although a step named somebody."""

    affiliate_id: UUID
    affiliate_status: str
    reason: str


@dataclass(frozen=True, slots=True)
class Decision:
    """Whom a payment credits and what every step said, in the order of STEPS.

    Without `affiliate_id` it credits nobody: `uncredited` says why, or no step named anybody. `sub_id` is the payment's
    own channel tag, else the lead's. `lead_id` is the lead that the payment converts.
    """

    steps: tuple[Outcome, ...]
    affiliate_id: UUID | None = None
    method: str | None = None
    uncredited: Uncredited | None = None
    sub_id: str | None = None
    lead_id: UUID | None = None


def decide(facts: Facts) -> Decision:
    """Return whom a payment credits. An affiliate who is not Approved earns nothing, and nobody else does instead."""
    outcomes: list[Outcome] = []
    match: Matched | None = None
    for step in STEPS:
        found = step.look(facts) if match is None else _after(step.NAME, facts, match.affiliate)
        outcomes.append(found)
        if isinstance(found, Matched):
            match = found
    return _combined(facts, tuple(outcomes), match)


def _after(name: str, facts: Facts, winner: NamedAffiliate) -> Skipped:
    said = email_match.look_after(facts, winner) if name == email_match.NAME else None
    return said or Skipped(DECIDED_EARLIER)


def _combined(facts: Facts, steps: tuple[Outcome, ...], match: Matched | None) -> Decision:
    if match is None:
        return Decision(steps, sub_id=facts.sub_id)
    winner = match.affiliate
    if winner.status != AffiliateStatus.Approved:
        return Decision(steps, uncredited=Uncredited(winner.id, winner.status, NOT_ACTIVE), sub_id=facts.sub_id)
    lead = _lead_of(facts, winner)
    return Decision(
        steps,
        affiliate_id=winner.id,
        method=_method(facts, match),
        sub_id=facts.sub_id or (lead.sub_id if lead else None),
        lead_id=lead.id if lead else None,
    )


def _method(facts: Facts, match: Matched) -> str | None:
    """Return the method of a match: self_referral at a gateway where the buyer is the affiliate and no code decides."""
    is_by_code = match.code in _BY_CODE or match.method == beside_coupon.WITH_OWN_CODE
    if facts.gateway is None or is_by_code:
        return match.method
    is_own = self_referrals.is_self_referral(buyer_email=facts.buyer_email, affiliate_email=match.affiliate.email)
    return self_referrals.METHOD if is_own else match.method


def _lead_of(facts: Facts, winner: NamedAffiliate) -> Lead | None:
    """Return the buyer's lead if it is the winner's, no matter by which step they won."""
    found = email_match.look_at_lead(facts)
    return facts.lead if isinstance(found, Matched) and found.affiliate.id == winner.id else None
