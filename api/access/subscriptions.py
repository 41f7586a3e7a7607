"""Checks of a brand's plan, its subscription and its connected gateways.

Source: core spec, section 5 "Plan gates"; tracking spec, section 5.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Literal, Protocol

from adapters import clock
from domain.organization import plans
from domain.refusals import Refused


class PlanHolder(Protocol):
    """A caller of a brand, with the brand's plan."""

    @property
    def plan_tier(self) -> str:
        """Return the plan."""

    @property
    def subscription_status(self) -> str:
        """Return the status of the subscription."""

    @property
    def trial_ends_at(self) -> datetime | None:
        """Return the end of the trial; None without one."""


def check_plan(required: plans.Tier, holder: PlanHolder, *, any_trial: bool = False) -> None:
    """Raise Refused 402 plan_tier_required if the brand's plan is too small."""
    refusal = plans.check_gate(
        required=required,
        plan_tier=plans.Tier(holder.plan_tier),
        subscription_status=plans.SubscriptionStatus(holder.subscription_status),
        trial_ends_at=holder.trial_ends_at,
        now=clock.now(),
        any_trial=any_trial,
    )
    if refusal is not None:
        raise Refused(
            402,
            "plan_tier_required",
            f"This needs the {refusal.required} plan or a higher one; the organization is on {refusal.current}.",
            required=refusal.required,
            current=refusal.current,
            trialing=refusal.trialing,
        )


def check_active(holder: PlanHolder) -> None:
    """Raise Refused 402 paid_plan_required if the brand has no paid subscription."""
    if not plans.is_paying(plan_tier=holder.plan_tier, subscription_status=holder.subscription_status):
        raise Refused(402, "paid_plan_required", "This needs an active paid subscription; a trial is not enough.")


#: What a signed ingest route records.
IngestKind = Literal["sales", "leads"]
_MESSAGES: Mapping[IngestKind, str] = {
    "sales": "The {name} connection records this organization's sales already. Disconnect it to send them from here.",
    "leads": (
        "While the {name} connection is active, leads are not accepted from a server. Record them with the browser tag"
        " on the brand's page, or disconnect it."
    ),
}


def check_no_gateway(gateways: tuple[str, ...], kind: IngestKind) -> None:
    """Raise Refused 409 if one of the brand's connected gateways already reports these."""
    if gateways:
        name = gateways[0]
        raise Refused(409, f"{name}_connect_active", _MESSAGES[kind].format(name=name))
