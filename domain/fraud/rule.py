"""What a rule is: one suspicion, and how much it weighs."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

Facts = TypeVar("Facts")


@dataclass(frozen=True, slots=True)
class Rule(Generic[Facts]):
    """A suspicion with the name that it is stored under, and its points of 100."""

    reason: str
    points: int
    holds: Callable[[Facts], bool]
