"""Decides whether an organization's plan opens a feature.

Source: core spec, section 5 "Plan gates". Callers that pass every gate (a dashboard session) don't ask here; the rule
that a bulk invite needs an active subscription is not a tier and not here either.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class Tier(StrEnum):
    """The plans, from the least to the most. Source: core spec, section 5 "Plan gates"."""

    Free = "Free"
    Starter = "Starter"
    Growth = "Growth"
    Pro = "Pro"


class SubscriptionStatus(StrEnum):
    """Where an organization's subscription stands. Source: core spec, "Billing state"."""

    Trialing = "Trialing"
    Active = "Active"
    PastDue = "PastDue"
    Canceled = "Canceled"


_RANK = {tier: rank for rank, tier in enumerate(Tier)}


@dataclass(frozen=True, slots=True)
class PlanRefused:
    """Why a gate stays closed: the tier it needs, the tier that counts now, and whether a trial is running.

    The fields of the same names in the body of a 402 `plan_tier_required`.
    """

    required: Tier
    current: Tier
    trialing: bool


def gate(
    *,
    required: Tier,
    plan_tier: Tier,
    subscription_status: SubscriptionStatus,
    trial_ends_at: datetime | None,
    now: datetime,
    any_trial: bool = False,
) -> PlanRefused | None:
    """Return None when the gate opens, else what refuses it.

    A past-due subscription keeps its tier, a canceled one counts as Free, a trial has the tier chosen at signup until
    it ends and counts as Free from then on. `any_trial` opens the gate to every running trial whatever its tier: the
    signed sale, lead and refund endpoints.
    Raises ValueError for a tier or status that doesn't exist.
    Source: core spec, section 5 "Plan gates"; tracking spec, "Server-to-server sale".
    """
    status = SubscriptionStatus(subscription_status)
    trialing = status == SubscriptionStatus.Trialing and trial_ends_at is not None and now < trial_ends_at
    current = Tier(plan_tier) if trialing or _is_paid_for(status) else Tier.Free
    if (any_trial and trialing) or _RANK[current] >= _RANK[Tier(required)]:
        return None
    return PlanRefused(required=Tier(required), current=current, trialing=trialing)


def _is_paid_for(status: SubscriptionStatus) -> bool:
    return status in (SubscriptionStatus.Active, SubscriptionStatus.PastDue)
