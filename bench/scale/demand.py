"""The clicks and sales of a day over time: more by day than by night, and one rush."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

#: The day is divided into steps of this many seconds.
STEP_S = 10
_DAY_S = 86_400
# The busiest hour is this much above the mean, and the quietest as much below.
_SWING = 0.8
# A brand's newsletter: the busiest ten minutes have this many times the rate of their hour.
_RUSH, _RUSH_S, _RUSH_AT_S = 4.0, 600, 20 * 3_600


@dataclass(frozen=True, slots=True)
class Load:
    """The clicks and sales of an average day."""

    clicks: int
    sales: int


def per_second(a_day: int) -> Sequence[float]:
    """Return the rate in each step of a day with `a_day` in total."""
    weights = [_weight(step * STEP_S) for step in range(_DAY_S // STEP_S)]
    of_one = a_day / (sum(weights) * STEP_S)
    return [weight * of_one for weight in weights]


def _weight(second: int) -> float:
    usual = 1 + _SWING * math.cos(2 * math.pi * (second - _RUSH_AT_S) / _DAY_S)
    return usual * (_RUSH if 0 <= second - _RUSH_AT_S < _RUSH_S else 1)
