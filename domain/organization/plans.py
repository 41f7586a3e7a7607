"""The plans of organizations, their limits, and whether a plan includes a feature.

Source: core spec, section 5 "Plan gates". Callers that pass every gate (a dashboard session) skip this check; the rule
that a bulk invite needs an active subscription is not a tier and not here.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType


class Tier(StrEnum):
    """The plans, from the smallest to the largest. Source: core spec, section 5 "Plan gates"."""

    Free = "Free"
    Starter = "Starter"
    Growth = "Growth"
    Pro = "Pro"


class SubscriptionStatus(StrEnum):
    """The state of an organization's subscription. Source: core spec, "Billing state"."""

    Trialing = "Trialing"
    Active = "Active"
    PastDue = "PastDue"
    Canceled = "Canceled"


_RANK = {tier: rank for rank, tier in enumerate(Tier)}


@dataclass(frozen=True, slots=True)
class PlanRefused:
    """Why a gate is closed: the required tier, the tier that counts now, and whether a trial is running.

    These are the fields of the same names in the body of a 402 `plan_tier_required`.
    """

    required: Tier
    current: Tier
    trialing: bool


def check_gate(
    *,
    required: Tier,
    plan_tier: Tier,
    subscription_status: SubscriptionStatus,
    trial_ends_at: datetime | None,
    now: datetime,
    any_trial: bool = False,
) -> PlanRefused | None:
    """Return None if the gate is open, else why it is closed.

    A past-due subscription keeps its tier, a canceled one counts as Free, a trial has the tier chosen at signup until
    it ends and counts as Free from then on. `any_trial` opens the gate to running trials of every tier: the
    signed sale, lead and refund endpoints.
    Raises ValueError for an unknown tier or status.
    Source: core spec, section 5 "Plan gates"; tracking spec, "Server-to-server sale".
    """
    trialing = _is_trialing(SubscriptionStatus(subscription_status), trial_ends_at, now)
    current = effective_tier(
        plan_tier=plan_tier, subscription_status=subscription_status, trial_ends_at=trial_ends_at, now=now
    )
    if (any_trial and trialing) or _RANK[current] >= _RANK[Tier(required)]:
        return None
    return PlanRefused(required=Tier(required), current=current, trialing=trialing)


def effective_tier(
    *, plan_tier: Tier, subscription_status: SubscriptionStatus, trial_ends_at: datetime | None, now: datetime
) -> Tier:
    """Return the tier that counts now: the organization's own, or Free once it was canceled or its trial has ended.

    Raises ValueError for an unknown tier or status.
    """
    status, tier = SubscriptionStatus(subscription_status), Tier(plan_tier)
    return tier if _is_trialing(status, trial_ends_at, now) or _is_paid_for(status) else Tier.Free


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a plan; None means no limit. Payouts in minor units per calendar month."""

    affiliates: int | None
    campaigns: int | None
    team_seats: int | None
    partner_payouts_cents: int | None = None


#: The limits of each plan. Source: core spec, "Billing state" (limits).
LIMITS = MappingProxyType(
    {
        Tier.Free: Limits(affiliates=25, campaigns=1, team_seats=1, partner_payouts_cents=0),
        Tier.Starter: Limits(affiliates=500, campaigns=5, team_seats=3),
        Tier.Growth: Limits(affiliates=5000, campaigns=25, team_seats=10),
        Tier.Pro: Limits(affiliates=None, campaigns=None, team_seats=None),
    }
)


def is_paying(*, plan_tier: str, subscription_status: str) -> bool:
    """Return whether an organization pays for a plan and is not past due; a trial pays nothing."""
    return subscription_status == SubscriptionStatus.Active and plan_tier != Tier.Free


def _is_trialing(status: SubscriptionStatus, trial_ends_at: datetime | None, now: datetime) -> bool:
    return status == SubscriptionStatus.Trialing and trial_ends_at is not None and now < trial_ends_at


def _is_paid_for(status: SubscriptionStatus) -> bool:
    return status in (SubscriptionStatus.Active, SubscriptionStatus.PastDue)
