"""The reward of one click or lead, and how many rewards a budget allows.

Source: core spec, "Program" (fees, rewards and bounty, budgetCents); precedence as in `commission`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import floor
from typing import Literal

from domain.conversions import commission
from domain.conversions.commission import CommissionType
from domain.money import currencies, fx, money
from domain.programs.fees import Fee
from domain.statuses import CommissionModel

Kind = Literal["click", "lead"]

_PRIMARY: Mapping[Kind, CommissionModel] = {"click": CommissionModel.Cpc, "lead": CommissionModel.Cpl}


@dataclass(frozen=True, slots=True)
class Level:
    """A rate of one level with its currency; type and currency are None where the level has no rate."""

    type: str | None
    value: Decimal | None
    currency: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RewardTerms:
    """The terms that pay a click or lead of one affiliate. `flat` is the bounty or reward next to another primary.

    `tiers`, `revenue_cents`, `home_currency` and `per_usd` are as in `commission.RateFacts`.
    """

    model: str
    program: Level
    custom: Level
    group: Level
    flat: Fee | None
    tiers: tuple[commission.RevenueTier, ...] = ()
    revenue_cents: Fraction = Fraction(0)
    home_currency: str = ""
    per_usd: Mapping[str, Decimal] | None = None


@dataclass(frozen=True, slots=True)
class Reward:
    """A fee, its value in major units, and the level that it comes from: affiliate, group, tier or program."""

    fee: Fee
    value: Decimal
    source: str


def is_primary(model: str, kind: Kind) -> bool:
    """Return whether clicks, or leads, are the primary of a program with this model."""
    return model == _PRIMARY[kind]


def reward(terms: RewardTerms, kind: Kind) -> Reward | None:
    """Return the reward of one click or lead; None where the program does not pay for them.

    A partner's own rate counts only if it is a fee and the primary is of this kind. An explicit 0 is a fee.
    Raises ValueError for an unsupported currency.
    """
    if not is_primary(terms.model, kind):
        return _to_reward(terms.flat) if terms.flat is not None else None
    if terms.program.type != CommissionType.Fixed or terms.program.value is None:
        return None
    facts = _facts(terms, terms.program.value)
    rate = commission.choose_rate(facts)
    currency = _currency(terms, facts, rate)
    if currency is None:
        return None
    return Reward(Fee(money.major_to_minor(major=rate.value, currency=currency), currency), rate.value, rate.source)


def _to_reward(fee: Fee) -> Reward:
    return Reward(fee, Decimal(fee.cents).scaleb(-currencies.exponent(fee.currency)), "program")


def _facts(terms: RewardTerms, value: Decimal) -> commission.RateFacts:
    custom, group = _fee_of(terms.custom), _fee_of(terms.group)
    return commission.RateFacts(
        custom_type=CommissionType.Fixed if custom is not None else None,
        custom_value=custom,
        group_type=CommissionType.Fixed if group is not None else None,
        group_value=group,
        tiers=tuple(tier for tier in terms.tiers if tier.type == CommissionType.Fixed),
        tier_revenue_cents=terms.revenue_cents,
        home_currency=terms.home_currency,
        per_usd=terms.per_usd or {},
        default_type=CommissionType.Fixed,
        default_value=value,
    )


def _fee_of(level: Level) -> Decimal | None:
    # A click or lead has no amount to take a percentage of: such a level does not count.
    return level.value if level.type == CommissionType.Fixed and level.currency is not None else None


def _currency(terms: RewardTerms, facts: commission.RateFacts, rate: commission.CommissionRate) -> str | None:
    if rate.source == "tier":
        tier = commission.find_reached_tier(facts)
        return tier.currency if tier else None
    levels = {"affiliate": terms.custom, "group": terms.group, "program": terms.program}
    return levels[rate.source].currency


class BudgetReserve:
    """The rest of a program's budget for clicks and leads while its lock is held. Exact in every currency.

    It belongs to one transaction: reserved fees must be written before the lock is released.
    """

    def __init__(self, *, budget: Fee | None, spent: Mapping[str, int], per_usd: Mapping[str, Decimal]) -> None:
        """Take the budget (None: no limit), the sums spent of it by currency, and the newest rates."""
        self._budget = budget
        self._per_usd = per_usd
        self._remaining = None if budget is None else _compute_remaining(budget, spent, per_usd)

    def reserve(self, fee: Fee, number: int) -> int:
        """Return how many of `number` fees fit into the rest, and reserve those.

        All without a budget, and all of a fee of 0, which spends nothing. None of them while a rate from the fee's or a
        spent currency into the budget's is missing.
        """
        if self._budget is None or fee.cents == 0:
            return number
        price = _convert(self._budget.currency, fee, self._per_usd)
        if self._remaining is None or price is None:
            return 0
        count = max(0, min(number, floor(self._remaining / price)))
        self._remaining -= count * price
        return count


def _compute_remaining(budget: Fee, spent: Mapping[str, int], per_usd: Mapping[str, Decimal]) -> Fraction | None:
    costs = [_convert(budget.currency, Fee(cents, currency), per_usd) for currency, cents in spent.items() if cents]
    convertible = [cost for cost in costs if cost is not None]
    return budget.cents - sum(convertible, Fraction(0)) if len(convertible) == len(costs) else None


def _convert(currency: str, fee: Fee, per_usd: Mapping[str, Decimal]) -> Fraction | None:
    return fx.convert_exactly(amount_cents=fee.cents, from_currency=fee.currency, to_currency=currency, per_usd=per_usd)
