"""Adds up a program's numbers: money per bucket in the home currency, and what is left of a budget.

Source: core spec, "Campaigns (programs)": statistics and budget status.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Part:
    """Some money: what it is in home-currency minor units, and how much of it (native minor units) had no rate.

    Either is None when there is nothing of it, and less than 0 when it is to be taken off the rest.
    """

    currency: str
    home_cents: int | None
    held_cents: int | None


@dataclass(frozen=True, slots=True)
class Money:
    """A total in home-currency minor units; what was held out of it by currency, None when nothing was."""

    home_cents: int
    held: Mapping[str, int] | None


def total(parts: Iterable[Part]) -> Money:
    """Return the sum of what could be valued, beside the native sums of what could not."""
    home, held = 0, dict[str, int]()
    for part in parts:
        home += part.home_cents or 0
        if part.held_cents is not None:
            held[part.currency] = held.get(part.currency, 0) + part.held_cents
    return Money(home, {currency: cents for currency, cents in held.items() if cents} or None)


@dataclass(frozen=True, slots=True)
class Budget:
    """What a program may spend on clicks and leads, in home-currency minor units. Without a budget there is no limit.

    `is_unconvertible`: there is a budget, in a former home currency, and no rate to say what it is in this one.
    """

    budget_cents: int | None
    spent: Money
    currency: str
    is_unconvertible: bool = False

    @property
    def remaining_cents(self) -> int | None:
        """What is left, never below 0; None when that cannot be said."""
        return None if self.budget_cents is None else max(self.budget_cents - self.spent.home_cents, 0)

    @property
    def is_unlimited(self) -> bool:
        """Whether there is no budget."""
        return self.budget_cents is None and not self.is_unconvertible

    @property
    def held_signal(self) -> int:
        """A sum across currencies: not an amount of anything, only a sign that something was held out."""
        return sum((self.spent.held or {}).values())
