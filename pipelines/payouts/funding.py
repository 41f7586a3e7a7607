"""How an organization's payouts are funded, and whether it may pay out.

Source: core spec, "Payouts", funding status.
"""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from domain.payouts import gates
from models.ledger import results
from models.organization import organizations
from models.organization.organizations import Organization
from models.payouts import payouts


@dataclass(frozen=True, slots=True)
class UnverifiedRules:
    """The limits of an organization until it is verified, in US cents; `cap_remaining_cents` None: no limit."""

    holding_days: int
    window_days: int
    cap_cents: int
    cap_used_cents: int
    cap_remaining_cents: int | None


@dataclass(frozen=True, slots=True)
class Funding:
    """The funding status of an organization. The balance is None unless payouts are paid from one; reason and message
    are None while a run could pass. No operation manages funding, so it cannot be managed and has no instructions.
    """

    mode: str
    bank_transfer_balance_cents: int | None
    verification_state: str
    payouts_allowed: bool
    payouts_blocked_reason: str | None
    payouts_blocked_message: str | None
    verification_required: bool
    identity_required: bool
    unverified_rules: UnverifiedRules
    can_manage_funding: bool = False
    bank_transfer_instructions: str | None = None


def find_funding(*, organization_id: UUID, now: datetime) -> Funding:
    """Return the funding status of an organization. Budget: 3 round trips."""
    organization = organizations.find(organization_id)
    if organization is None:
        raise LookupError(f"there is no organization {organization_id}")
    facts = read_gate_facts(organization, now=now)
    refusal = gates.find_closed_gate(facts)
    is_from_balance = facts.funding_mode == "balance"
    return Funding(
        mode=facts.funding_mode,
        bank_transfer_balance_cents=organization.bank_balance_cents if is_from_balance else None,
        verification_state=facts.verification_state,
        payouts_allowed=refusal is None,
        payouts_blocked_reason=refusal and refusal[0],
        payouts_blocked_message=refusal and refusal[1],
        verification_required=facts.is_high_risk,
        identity_required=facts.is_identity_required,
        unverified_rules=UnverifiedRules(
            holding_days=gates.HOLD_PERIOD.days,
            window_days=gates.WINDOW.days,
            cap_cents=gates.CAP_CENTS,
            cap_used_cents=facts.cap_used_cents,
            cap_remaining_cents=facts.cap_remaining_cents,
        ),
    )


def read_gate_facts(organization: Organization, *, now: datetime) -> gates.PayoutFacts:
    """Return the facts about an organization that the gates check."""
    return gates.PayoutFacts(
        plan_tier=organization.plan_tier,
        subscription_status=organization.subscription_status,
        verification_state=organization.verification_state,
        fraud_score=organization.fraud_score,
        identity_required=organization.identity_required,
        identity_threshold=organization.identity_threshold,
        high_risk_threshold=organization.high_risk_threshold,
        funding_mode=organization.funding_mode,
        funding_frozen=organization.funding_frozen,
        needs_review=organization.payouts_need_review or results.has_findings(organization.id),
        hold_days=organization.payout_hold_days,
        cap_used_cents=payouts.sum_cap_used_cents(organization_id=organization.id, since=now - gates.WINDOW),
    )
