"""Processor time of hostile input, compared with that of reading plain JSON of the same length in the same run."""

import functools
import json
import time
from collections.abc import Callable
from typing import Any

# The standard library reads a list of one-digit numbers at 15 to 20 ms per megabyte: the most that a refusal may cost.
_YARDSTICK_BYTES = 1_000_000
# Another process on the same core slows down one reading more than another.
_NOISE = 1.5
_TRIES = 6


def least_cost(act: Callable[[], Any], *, enough_s: float = 0.0) -> tuple[float, Any]:
    """Return the least processor time of some tries, and the last result; a try of at most `enough_s` is the last."""
    least = float("inf")
    for _ in range(_TRIES):
        began = time.thread_time()
        result = act()
        least = min(least, time.thread_time() - began)
        if least <= enough_s:
            break
    return least, result


def yardstick_s(length: int) -> float:
    """Return the seconds in which plain JSON of so many bytes is read, with room for the noise of a busy machine."""
    return _NOISE * _yardstick_s() * length / _YARDSTICK_BYTES


@functools.cache
def _yardstick_s() -> float:
    raw = b"[" + b"1," * (_YARDSTICK_BYTES // 2 - 1) + b"1]"
    return least_cost(lambda: json.loads(raw))[0]
