"""The conditions under which an organization may pay out, and how long its payouts are held.

Source: core spec, "Payouts", additional 409 codes from a run; "Payouts", funding status.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from domain.organization import plans
from domain.refusals import Refused

#: How long an unverified organization's payouts are held.
HOLD_PERIOD = timedelta(days=7)
#: The most that an unverified organization may pay within the window, in US cents.
CAP_CENTS = 100_000
WINDOW = timedelta(days=30)
# The smallest run.
_MIN_CENTS = 1


@dataclass(frozen=True, slots=True)
class PayoutFacts:
    """The facts about an organization for the gates. `cap_used_cents` is the sum paid within the window, in US cents.

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
        """Whether the organization was verified."""
        return self.verification_state == "verified"

    @property
    def is_identity_required(self) -> bool:
        """Whether the brand must pass an identity check first."""
        if self.identity_required is None:
            return not self.is_verified and self.fraud_score >= self.identity_threshold
        return self.identity_required

    @property
    def is_high_risk(self) -> bool:
        """Whether the organization must be verified before it pays."""
        return not self.is_verified and self.fraud_score >= self.high_risk_threshold

    @property
    def cap_remaining_cents(self) -> int | None:
        """The sum that may still be paid within the window, in US cents; None: no cap."""
        return None if self.is_verified else max(CAP_CENTS - self.cap_used_cents, 0)


def check(standing: PayoutFacts, *, total_cents: int) -> None:
    """Raise Refused 409 with the code of the first closed gate, if any, for a run of `total_cents` US cents."""
    for gate in _run_checks(standing, total_cents):
        if gate is not None:
            raise Refused(409, gate[0], gate[1])


def find_closed_gate(standing: PayoutFacts) -> tuple[str, str] | None:
    """Return the code and the message of the first gate that is closed for every run; None if a run could pass."""
    return next((gate for gate in _run_checks(standing, _MIN_CENTS) if gate is not None), None)


def hold_until(standing: PayoutFacts, *, now: datetime) -> datetime | None:
    """Return the time until which the payouts of a run are held; None: they are not."""
    days = max(0 if standing.is_verified else HOLD_PERIOD.days, standing.hold_days)
    return now + timedelta(days=days) if days else None


def _run_checks(standing: PayoutFacts, total_cents: int) -> tuple[tuple[str, str] | None, ...]:
    return (
        _check_subscription(standing),
        _check_identity(standing),
        _check_risk(standing),
        _check_prefunding(standing),
        _check_cap(standing, total_cents),
        _check_freeze(standing),
    )


def _check_subscription(standing: PayoutFacts) -> tuple[str, str] | None:
    if plans.is_paying(plan_tier=standing.plan_tier, subscription_status=standing.subscription_status):
        return None
    return "payouts_require_active_subscription", "Payouts need an active paid plan; a trial is not enough."


def _check_identity(standing: PayoutFacts) -> tuple[str, str] | None:
    if not standing.is_identity_required:
        return None
    return "identity_required", "An identity check is required first. The operator clears it once it is passed."


def _check_risk(standing: PayoutFacts) -> tuple[str, str] | None:
    if not standing.is_high_risk:
        return None
    return "high_risk_unverified", "The organization must be verified before it can pay."


def _check_prefunding(standing: PayoutFacts) -> tuple[str, str] | None:
    if standing.is_verified or standing.funding_mode != "debit":
        return None
    message = "An unverified organization cannot pay by bank debit. Fund the balance, or get verified."
    return "unverified_prefund_only", message


def _check_cap(standing: PayoutFacts, total_cents: int) -> tuple[str, str] | None:
    remaining = standing.cap_remaining_cents
    if remaining is None or total_cents <= remaining:
        return None
    this_run = f", and this run would pay {total_cents}" if total_cents > _MIN_CENTS else ""
    message = (
        f"Unverified organizations can pay at most {CAP_CENTS} US cents in {WINDOW.days} days; "
        f"{standing.cap_used_cents} are used, {remaining} remain{this_run}."
    )
    return "unverified_cap_exceeded", message


def _check_freeze(standing: PayoutFacts) -> tuple[str, str] | None:
    if not standing.funding_frozen:
        return None
    return "funding_frozen", "Funding is paused after a bank dispute. The operator resumes it once that is settled."
