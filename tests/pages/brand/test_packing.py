"""What forms carry along is packed in time in proportion to its length, whatever the text is."""

import random
import time
import zlib

from pages.brand.imports import upload


def test_packing_costs_little_more_than_the_quickest_compression():
    # Two letters in random order are what the most thorough level takes thirty times as long for.
    text = "".join(random.Random(1).choices("ab", k=500_000))

    assert _cost(lambda: upload.packed(text)) < 15 * _cost(lambda: zlib.compress(text.encode(), 1))


def _cost(act):
    """Return the least processor time of three tries."""
    costs = []
    for _ in range(3):
        began = time.thread_time()
        act()
        costs.append(time.thread_time() - began)
    return min(costs)
