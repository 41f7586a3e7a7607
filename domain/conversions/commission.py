"""The rate of a sale, and its commission at that rate.

Source: tracking spec, "Server-to-server sale body" (precedence), and core spec, "Program fields accepted on create or
update" (Percentage and Fixed). `recurring` decides whether the sale earns at all.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction

from domain.money import fx, money


class CommissionType(StrEnum):
    """How a commission value is read. Source: core spec, "Program", defaultCommissionType."""

    Percentage = "Percentage"
    Fixed = "Fixed"


@dataclass(frozen=True, slots=True)
class RevenueTier:
    """One performance tier: the rate of an affiliate whose referred revenue reached the minimum.

    Units: minor units of the tier's own currency, which was the home currency when the tier was set.
    """

    min_revenue_cents: int
    currency: str
    type: CommissionType
    value: Decimal


@dataclass(frozen=True, slots=True)
class CommissionRate:
    """The chosen rate, and the level it comes from: affiliate, coupon, group, tier or program."""

    type: CommissionType
    value: Decimal
    source: str


@dataclass(frozen=True, slots=True)
class RateFacts:
    """All levels from which a rate is chosen, in their state before this sale.

    A level without a type or a value (None) has no rate. `coupon` is the own rate of the code that credits the sale.
    `tiers` is the program's whole list in any order.
    Units: `tier_revenue_cents` is the affiliate's lifetime net referred revenue in the program, in home-currency
    minor units and fractions of them. `per_usd` has the newest available rates of the home currency and of the tiers'
    currencies; it may be empty while all of them are the home currency.
    """

    custom_type: CommissionType | None
    custom_value: Decimal | None
    group_type: CommissionType | None
    group_value: Decimal | None
    tiers: tuple[RevenueTier, ...]
    tier_revenue_cents: Fraction
    home_currency: str
    per_usd: Mapping[str, Decimal]
    default_type: CommissionType
    default_value: Decimal
    coupon: CommissionRate | None = None


def choose_rate(facts: RateFacts) -> CommissionRate:
    """Return the rate that applies to a sale.

    The affiliate's override, else that of the code that credits the sale, else the partner group's rate, else the
    performance tier's, else the program's default.
    An explicit 0 is a rate and stops the search. Of the reached tiers the highest counts; a tier in a currency without
    an exchange rate is never reached, since its threshold has no value.
    Source: tracking spec, "Server-to-server sale body", commission rules.
    """
    if facts.custom_type is not None and facts.custom_value is not None:
        return CommissionRate(type=facts.custom_type, value=facts.custom_value, source="affiliate")
    if facts.coupon is not None:
        return facts.coupon
    if facts.group_type is not None and facts.group_value is not None:
        return CommissionRate(type=facts.group_type, value=facts.group_value, source="group")
    tier = find_reached_tier(facts)
    if tier is not None:
        return CommissionRate(type=tier.type, value=tier.value, source="tier")
    return CommissionRate(type=facts.default_type, value=facts.default_value, source="program")


def price(*, rate: CommissionRate, amount_cents: int, currency: str) -> int:
    """Return the commission of a sale at that rate.

    Units: minor units of the sale's own currency, in and out. Percentage is of the amount; Fixed is that many major
    units of the sale's currency and may exceed the amount. Rounds half to even.
    Raises ValueError for a Fixed rate in an unsupported currency.
    Source: core spec, "Program fields accepted on create or update", rules 1 and 3.
    """
    if rate.type == CommissionType.Percentage:
        return money.percent_of(amount_cents=amount_cents, percent=rate.value)
    return money.major_to_minor(major=rate.value, currency=currency)


def find_reached_tier(facts: RateFacts) -> RevenueTier | None:
    """Return the highest tier that the affiliate's revenue reaches, None if it reaches none."""
    reached = []
    for tier in facts.tiers:
        minimum = _home_minimum(tier, facts)
        # Without rounding: a threshold between two minor units is reached by the upper one only.
        if minimum is not None and minimum <= facts.tier_revenue_cents:
            reached.append((minimum, tier))
    return max(reached, key=lambda pair: pair[0])[1] if reached else None


def _home_minimum(tier: RevenueTier, facts: RateFacts) -> Fraction | None:
    return fx.convert_exactly(
        amount_cents=tier.min_revenue_cents,
        from_currency=tier.currency,
        to_currency=facts.home_currency,
        per_usd=facts.per_usd,
    )
