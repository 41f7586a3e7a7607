"""The steps of setting up a brand: each is done when the facts say so, none by a click."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from domain.organization import onboarding
from domain.organization.onboarding import OnboardingFacts, SetupStep
from domain.payouts import gates
from models.organization import onboarding as onboarding_rows
from models.organization.onboarding import PayoutStanding


@dataclass(frozen=True, slots=True)
class Onboarding:
    """The steps with the facts behind them; `payouts_blocked_message` says why no payout run is possible yet."""

    steps: Sequence[SetupStep]
    facts: OnboardingFacts
    payouts_blocked_message: str | None

    @property
    def is_done(self) -> bool:
        """Whether every step is done."""
        return all(step.is_done for step in self.steps)


def find(organization_id: UUID) -> Onboarding | None:
    """Return the steps of an organization; None if there is no such organization. Budget: 1 statement."""
    row = onboarding_rows.find(organization_id)
    if row is None:
        return None
    gate = gates.find_closed_gate(_gate_facts(row.standing))
    return Onboarding(
        steps=onboarding.build_steps(row.facts, may_pay=gate is None),
        facts=row.facts,
        payouts_blocked_message=gate and gate[1],
    )


def _gate_facts(standing: PayoutStanding) -> gates.PayoutFacts:
    """Return the facts for the gates, as for an organization that has paid nothing yet."""
    return gates.PayoutFacts(
        plan_tier=standing.plan_tier,
        subscription_status=standing.subscription_status,
        verification_state=standing.verification_state,
        fraud_score=standing.fraud_score,
        identity_required=standing.identity_required,
        identity_threshold=standing.identity_threshold,
        high_risk_threshold=standing.high_risk_threshold,
        funding_mode=standing.funding_mode,
        funding_frozen=standing.funding_frozen,
        needs_review=standing.payouts_need_review,
        hold_days=standing.payout_hold_days,
        cap_used_cents=0,
    )
