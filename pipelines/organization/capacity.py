"""Usage of an organization's plan, and how many more affiliates it may have.

Source: core spec, "Billing state" (limits); tracking spec, "Public storefront" (program_at_capacity).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from domain.money import fx
from domain.organization import plans
from domain.organization.plans import SubscriptionStatus, Tier
from models.money import fx_rates
from models.organization import organizations
from models.organization.organizations import Organization


@dataclass(frozen=True, slots=True)
class LimitUse:
    """The usage of one limit; `max` None means no limit."""

    current: int
    max: int | None


@dataclass(frozen=True, slots=True)
class PlanUse:
    """The usage of every limit of the plan. Payouts in the home currency's minor units, this month UTC."""

    affiliates: LimitUse
    campaigns: LimitUse
    partner_payouts_this_month_cents: LimitUse
    team_seats: LimitUse


def count_affiliates_left(organization: Organization, *, now: datetime) -> int | None:
    """Return how many more affiliates the organization may have; None means no limit.

    A caller who adds one because of the answer takes `stage_affiliate_capacity_lock` first, so that of two concurrent
    requests only one gets the last place.
    """
    max_affiliates = _max_affiliates(organization, now)
    return None if max_affiliates is None else max(max_affiliates - organizations.count_affiliates(organization.id), 0)


def find_usage(organization: Organization, now: datetime) -> PlanUse:
    """Return the usage of an organization's plan."""
    limits = plans.LIMITS[effective_tier(organization, now)]
    month = now.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    used = organizations.count_usage(organization_id=organization.id, paid_since=month)
    return PlanUse(
        affiliates=LimitUse(used.affiliates, _max_affiliates(organization, now)),
        campaigns=LimitUse(used.campaigns, limits.campaigns),
        partner_payouts_this_month_cents=LimitUse(
            _to_home_cents(used.paid_cents, organization.home_currency), limits.partner_payouts_cents
        ),
        team_seats=LimitUse(used.team_seats, limits.team_seats),
    )


def effective_tier(organization: Organization, now: datetime) -> Tier:
    """Return the tier that applies now."""
    return plans.effective_tier(
        plan_tier=Tier(organization.plan_tier),
        subscription_status=SubscriptionStatus(organization.subscription_status),
        trial_ends_at=organization.trial_ends_at,
        now=now,
    )


def _max_affiliates(organization: Organization, now: datetime) -> int | None:
    if organization.affiliate_limit is not None:
        return organization.affiliate_limit
    return plans.LIMITS[effective_tier(organization, now)].affiliates


def _to_home_cents(paid_cents: Mapping[str, int], home: str) -> int:
    # Money without a stored exchange rate is left out, as in all such figures.
    converted = [
        fx.to_currency(
            amount_cents=cents, from_currency=currency, to_currency=home, per_usd=_find_rates(currency, home)
        )
        for currency, cents in paid_cents.items()
    ]
    return sum(cents for cents in converted if cents is not None)


def _find_rates(*currencies: str) -> dict[str, Decimal]:
    rates = {currency: fx_rates.find_newest(currency) for currency in currencies if currency != "USD"}
    return {currency: rate for currency, rate in rates.items() if rate is not None}
