"""An affiliate's progress towards performance tiers: a program's tiers and the affiliate's lifetime revenue."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from uuid import UUID

from domain.conversions import commission
from domain.money import fx
from models.conversions import revenue
from models.conversions.revenue import DayRevenue
from models.money import fx_rates
from models.organization import organizations
from models.programs import performance_tiers


@dataclass(frozen=True, slots=True)
class TierProgress:
    """A program's tiers, the affiliate's lifetime revenue (home minor units), and the rates to compare them."""

    tiers: tuple[commission.RevenueTier, ...] = ()
    revenue_cents: Fraction = Fraction(0)
    home_currency: str = ""
    per_usd: Mapping[str, Decimal] = field(default_factory=dict)


def find(*, organization_id: UUID, program_id: UUID, affiliate_id: UUID) -> TierProgress:
    """Return an affiliate's progress in a program's tiers. Budget: 3 round trips, a fourth for foreign tiers."""
    home_currency = organizations.read_home_currency(organization_id)
    days = revenue.list_by_day(organization_id=organization_id, affiliate_id=affiliate_id, home_currency=home_currency)
    tiers = performance_tiers.list_of_program(organization_id=organization_id, program_id=program_id)
    foreign = {tier.currency for tier in tiers} - {home_currency}
    return TierProgress(
        tiers=tuple(_tier(tier) for tier in tiers),
        revenue_cents=sum((_in_home_currency(day, home_currency) for day in days), Fraction(0)),
        home_currency=home_currency,
        per_usd=fx_rates.find_newest_rates({home_currency, *foreign}) if foreign else {},
    )


def _tier(tier: performance_tiers.ProgramTier) -> commission.RevenueTier:
    return commission.RevenueTier(
        min_revenue_cents=tier.min_revenue_cents,
        currency=tier.currency,
        type=commission.CommissionType(tier.commission_type),
        value=tier.commission_value,
    )


def _in_home_currency(day: DayRevenue, home_currency: str) -> Fraction:
    rates: dict[str, Decimal] = {}
    if day.per_usd is not None:
        rates[day.currency] = day.per_usd
    if day.home_per_usd is not None:
        rates[home_currency] = day.home_per_usd
    converted = fx.convert_exactly(
        amount_cents=day.net_cents, from_currency=day.currency, to_currency=home_currency, per_usd=rates
    )
    return converted or Fraction(0)  # revenue without a rate cannot count towards a tier
