"""The decision for a score, by the brand's strictness, and its severity."""

import functools
from enum import StrEnum
from typing import Literal

Decision = Literal["pass", "hold", "block"]
Severity = Literal["low", "medium", "high"]

_HIGH_FROM = 80
_MEDIUM_FROM = 50


class Strictness(StrEnum):
    """How much a brand lets pass. Source: core spec, fraud summary."""

    lenient = "lenient"
    balanced = "balanced"
    strict = "strict"


# The scores from which a click or lead is held, and from which it is blocked.
_HOLD_FROM = {Strictness.lenient: 70, Strictness.balanced: 50, Strictness.strict: 35}
_BLOCK_FROM = {Strictness.lenient: 95, Strictness.balanced: 80, Strictness.strict: 65}


@functools.cache  # at most 101 scores by three strictnesses, decided for every click
def decide(score: int, strictness: str) -> Decision:
    """Return whether a click or lead with this score passes, is held for review, or is blocked.

    Raises ValueError for an unknown strictness.
    """
    level = Strictness(strictness)
    if score >= _BLOCK_FROM[level]:
        return "block"
    return "hold" if score >= _HOLD_FROM[level] else "pass"


def severity(score: int) -> Severity:
    """Return the severity of a score, whatever was decided about it."""
    if score >= _HIGH_FROM:
        return "high"
    return "medium" if score >= _MEDIUM_FROM else "low"
