"""What one click or lead pays its affiliate, and how many such payments a budget holds.

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
    """A rate of one level with its currency; both texts are None where the level is silent."""

    type: str | None
    value: Decimal | None
    currency: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RewardTerms:
    """All that a click or lead of one affiliate is paid by. `flat` is the bounty or reward beside another primary.

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
    """A fee, the same in major units, and the level that it comes from: affiliate, group, tier or program."""

    fee: Fee
    value: Decimal
    source: str


def is_primary(model: str, kind: Kind) -> bool:
    """Say whether clicks, or leads, are what a program of this model pays for in the first place."""
    return model == _PRIMARY[kind]


def reward(terms: RewardTerms, kind: Kind) -> Reward | None:
    """Return what one click or lead pays; None where the program does not pay for any.

    A partner's own rate counts where it is a fee, on a primary of this kind alone. An explicit 0 is a fee.
    Raises ValueError for a currency that isn't supported.
    """
    if not is_primary(terms.model, kind):
        return _flat(terms.flat) if terms.flat is not None else None
    if terms.program.type != CommissionType.Fixed or terms.program.value is None:
        return None
    facts = _facts(terms, terms.program.value)
    rate = commission.choose_rate(facts)
    currency = _currency(terms, facts, rate)
    if currency is None:
        return None
    return Reward(Fee(money.major_to_minor(major=rate.value, currency=currency), currency), rate.value, rate.source)


def _flat(fee: Fee) -> Reward:
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
    # There is nothing of a click or lead to take a percentage of: such a level is silent.
    return level.value if level.type == CommissionType.Fixed and level.currency is not None else None


def _currency(terms: RewardTerms, facts: commission.RateFacts, rate: commission.CommissionRate) -> str | None:
    if rate.source == "tier":
        tier = commission.find_reached_tier(facts)
        return tier.currency if tier else None
    levels = {"affiliate": terms.custom, "group": terms.group, "program": terms.program}
    return levels[rate.source].currency


class Purse:
    """What a program's budget has left for clicks and leads, while its lock is held. Exact in every currency.

    Of one transaction: what it sets aside must be written before the lock is let go.
    """

    def __init__(self, *, budget: Fee | None, spent: Mapping[str, int], per_usd: Mapping[str, Decimal]) -> None:
        """Take the budget (None: no limit), what was spent of it by currency, and the newest rates there are."""
        self._budget = budget
        self._per_usd = per_usd
        self._left = None if budget is None else _left(budget, spent, per_usd)

    def affordable(self, fee: Fee, wanted: int) -> int:
        """Return how many of `wanted` fees fit into what is left, and set those aside.

        All without a budget, and all of a fee of 0, which spends nothing. None while a rate is missing that says what
        the fee or something spent is in the budget's currency.
        """
        if self._budget is None or fee.cents == 0:
            return wanted
        price = _in(self._budget.currency, fee, self._per_usd)
        if self._left is None or price is None:
            return 0
        number = max(0, min(wanted, floor(self._left / price)))
        self._left -= number * price
        return number


def _left(budget: Fee, spent: Mapping[str, int], per_usd: Mapping[str, Decimal]) -> Fraction | None:
    costs = [_in(budget.currency, Fee(cents, currency), per_usd) for currency, cents in spent.items() if cents]
    known = [cost for cost in costs if cost is not None]
    return budget.cents - sum(known, Fraction(0)) if len(known) == len(costs) else None


def _in(currency: str, fee: Fee, per_usd: Mapping[str, Decimal]) -> Fraction | None:
    return fx.convert_exactly(amount_cents=fee.cents, from_currency=fee.currency, to_currency=currency, per_usd=per_usd)
