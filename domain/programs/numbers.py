"""Sums of a program's money in the home currency, and the remainder of a budget.

Source: core spec, "Campaigns (programs)": statistics and budget status.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SumPart:
    """A part of a sum: the valued part in home-currency minor units, and the part without a rate in native minor units.

    Either is None when that part is missing, and negative when it is subtracted from the rest.
    """

    currency: str
    home_cents: int | None
    held_cents: int | None


@dataclass(frozen=True, slots=True)
class Money:
    """A total in home-currency minor units; `held` is what has no rate, by currency, and None if all has one."""

    home_cents: int
    held: Mapping[str, int] | None


def total(parts: Iterable[SumPart]) -> Money:
    """Return the sum of the valued parts, with the native sums of the others."""
    home, unvalued = 0, dict[str, int]()
    for part in parts:
        home += part.home_cents or 0
        if part.held_cents is not None:
            unvalued[part.currency] = unvalued.get(part.currency, 0) + part.held_cents
    return Money(home, {currency: cents for currency, cents in unvalued.items() if cents} or None)


@dataclass(frozen=True, slots=True)
class Budget:
    """A program's budget for clicks and leads, in home-currency minor units. Without a budget there is no limit.

    `is_unconvertible`: the budget is in a former home currency, without a rate into this one.
    """

    budget_cents: int | None
    spent: Money
    currency: str
    is_unconvertible: bool = False

    @property
    def remaining_cents(self) -> int | None:
        """The remaining budget, never below 0; None when it is unknown."""
        return None if self.budget_cents is None else max(self.budget_cents - self.spent.home_cents, 0)

    @property
    def is_unlimited(self) -> bool:
        """Whether there is no budget."""
        return self.budget_cents is None and not self.is_unconvertible

    @property
    def held_signal(self) -> int:
        """A sum across currencies: not an amount, only a signal that something has no rate."""
        return sum((self.spent.held or {}).values())
