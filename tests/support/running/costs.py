"""Processor time of hostile input, compared with reading plain JSON of the same length in the same run."""

import functools
import json
import time
from collections.abc import Callable
from typing import Any

# The standard library parses a list of one-digit numbers at 15 to 20 ms per megabyte: the limit for a rejection.
_YARDSTICK_BYTES = 1_000_000
# Other processes on the same core slow down some measurements more than others.
_NOISE = 1.5
_TRIES = 6


def least_cost(act: Callable[[], Any], *, enough_s: float = 0.0) -> tuple[float, Any]:
    """Return the least processor time of several tries, and the last result; stop at a try of at most `enough_s`."""
    least = float("inf")
    for _ in range(_TRIES):
        started_s = time.thread_time()
        result = act()
        least = min(least, time.thread_time() - started_s)
        if least <= enough_s:
            break
    return least, result


def yardstick_s(length: int) -> float:
    """Return the seconds in which plain JSON of this length is parsed, plus a margin for a busy machine."""
    return _NOISE * _yardstick_s() * length / _YARDSTICK_BYTES


@functools.cache
def _yardstick_s() -> float:
    raw = b"[" + b"1," * (_YARDSTICK_BYTES // 2 - 1) + b"1]"
    return least_cost(lambda: json.loads(raw))[0]
