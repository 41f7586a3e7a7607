"""What a brand pays for opens, and what its gateways do by themselves shuts: the refusals of both.

Source: core spec, section 5 "Plan gates"; tracking spec, section 5.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Literal, Protocol

from adapters import clock
from domain.organization import plans
from domain.refused import Refused


class PlanHolder(Protocol):
    """Whoever speaks for a brand, with what it pays for."""

    @property
    def plan_tier(self) -> str:
        """Return the plan."""

    @property
    def subscription_status(self) -> str:
        """Return where the subscription stands."""

    @property
    def trial_ends_at(self) -> datetime | None:
        """Return when the trial ends; None without one."""


def check_plan(required: plans.Tier, found: PlanHolder, *, any_trial: bool = False) -> None:
    """Raise Refused 402 plan_tier_required where the brand's plan is too small."""
    refused = plans.check_gate(
        required=required,
        plan_tier=plans.Tier(found.plan_tier),
        subscription_status=plans.SubscriptionStatus(found.subscription_status),
        trial_ends_at=found.trial_ends_at,
        now=clock.now(),
        any_trial=any_trial,
    )
    if refused is not None:
        raise Refused(
            402,
            "plan_tier_required",
            f"This needs the {refused.required} plan or a higher one; the organization is on {refused.current}.",
            required=refused.required,
            current=refused.current,
            trialing=refused.trialing,
        )


def check_active(found: PlanHolder) -> None:
    """Raise Refused 402 paid_plan_required where the brand pays nothing yet."""
    if not plans.is_paying(plan_tier=found.plan_tier, subscription_status=found.subscription_status):
        raise Refused(402, "paid_plan_required", "This needs an active paid subscription; a trial does not open it.")


#: What a signed route records.
Recorded = Literal["sales", "leads"]
_INSTEAD: Mapping[Recorded, str] = {
    "sales": "The {name} connection records this organization's sales already. Disconnect it to send them from here.",
    "leads": (
        "While the {name} connection is active, leads are not accepted from a server. Record them with the browser tag"
        " on the brand's page, or disconnect it."
    ),
}


def check_no_gateway(gateways: tuple[str, ...], recorded: Recorded) -> None:
    """Raise Refused 409 where one of the brand's gateways brings its sales by itself."""
    if gateways:
        name = gateways[0]
        raise Refused(409, f"{name}_connect_active", _INSTEAD[recorded].format(name=name))
