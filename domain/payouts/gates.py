"""Decides whether an organization may pay out now, and what its payouts wait for.

Source: core spec, "Payouts", additional 409 codes from a run; "Payouts", funding status.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from domain.organization import plans
from domain.refused import Refused

#: How long an unverified organization's payouts wait.
HOLDING = timedelta(days=7)
#: What an unverified organization may pay within the window, in US cents.
CAP_CENTS = 100_000
WINDOW = timedelta(days=30)
# What a run pays at least.
_LEAST_CENTS = 1


@dataclass(frozen=True, slots=True)
class PayoutStanding:
    """An organization as the gates see it. `cap_used_cents` is what it paid within the window, in US cents.

    `identity_required` None: the fraud score decides.
    """

    plan_tier: str
    subscription_status: str
    verification_state: str
    fraud_score: int
    identity_required: bool | None
    identity_threshold: int
    high_risk_threshold: int
    funding_mode: str
    funding_frozen: bool
    needs_review: bool
    hold_days: int
    cap_used_cents: int

    @property
    def is_verified(self) -> bool:
        """Whether somebody looked at the organization's papers."""
        return self.verification_state == "verified"

    @property
    def is_identity_required(self) -> bool:
        """Whether the brand has a check of its identity before it."""
        if self.identity_required is None:
            return not self.is_verified and self.fraud_score >= self.identity_threshold
        return self.identity_required

    @property
    def is_high_risk(self) -> bool:
        """Whether the organization has to be verified before it pays anything."""
        return not self.is_verified and self.fraud_score >= self.high_risk_threshold

    @property
    def cap_remaining_cents(self) -> int | None:
        """What may still be paid within the window, in US cents; None: as much as there is."""
        return None if self.is_verified else max(CAP_CENTS - self.cap_used_cents, 0)


def check(standing: PayoutStanding, *, total_cents: int) -> None:
    """Let a run of `total_cents` US cents pass, or raise Refused 409 with the code of the first gate that is shut."""
    for gate in _gates(standing, total_cents):
        if gate is not None:
            raise Refused(409, gate[0], gate[1])


def standing_refusal(standing: PayoutStanding) -> tuple[str, str] | None:
    """Return the code and the sentence of the first gate that is shut for every run, None when one could pass."""
    return next((gate for gate in _gates(standing, _LEAST_CENTS) if gate is not None), None)


def hold_until(standing: PayoutStanding, *, now: datetime) -> datetime | None:
    """Return until when the payouts of a run wait; None: they don't."""
    days = max(0 if standing.is_verified else HOLDING.days, standing.hold_days)
    return now + timedelta(days=days) if days else None


def _gates(standing: PayoutStanding, total_cents: int) -> tuple[tuple[str, str] | None, ...]:
    return (
        _subscription(standing),
        _identity(standing),
        _risk(standing),
        _prefund(standing),
        _cap(standing, total_cents),
        _frozen(standing),
    )


def _subscription(standing: PayoutStanding) -> tuple[str, str] | None:
    if plans.is_paying(plan_tier=standing.plan_tier, subscription_status=standing.subscription_status):
        return None
    return "payouts_require_active_subscription", "Payouts need an active paid plan; a trial cannot pay."


def _identity(standing: PayoutStanding) -> tuple[str, str] | None:
    if not standing.is_identity_required:
        return None
    return "identity_required", "An identity check is required first; the operator clears it once it is passed."


def _risk(standing: PayoutStanding) -> tuple[str, str] | None:
    if not standing.is_high_risk:
        return None
    return "high_risk_unverified", "The organization has to be verified before it can pay."


def _prefund(standing: PayoutStanding) -> tuple[str, str] | None:
    if standing.is_verified or standing.funding_mode != "debit":
        return None
    message = "An unverified organization pays from a funded balance, not by bank debit; fund it or be verified."
    return "unverified_prefund_only", message


def _cap(standing: PayoutStanding, total_cents: int) -> tuple[str, str] | None:
    remaining = standing.cap_remaining_cents
    if remaining is None or total_cents <= remaining:
        return None
    wanted = f", and this run would pay {total_cents}" if total_cents > _LEAST_CENTS else ""
    message = (
        f"Unverified organizations pay at most {CAP_CENTS} US cents in {WINDOW.days} days; {standing.cap_used_cents}"
        f" are used, {remaining} remain{wanted}."
    )
    return "unverified_cap_exceeded", message


def _frozen(standing: PayoutStanding) -> tuple[str, str] | None:
    if not standing.funding_frozen:
        return None
    return "funding_frozen", "Funding is paused after a bank dispute; the operator lifts it once that is settled."
