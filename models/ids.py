"""Ids: UUIDs that sort by the time they were made, so that a million rows append to an index instead of scattering."""

import os
import threading
from uuid import UUID

from models.session.database_clock import database_clock

_VERSION_7 = 0x7 << 76
_VARIANT = 0x2 << 62
_CHANCE_BYTES = 10
# Asking the system for chance gives up the interpreter's lock each time; this much serves 400 ids.
_STOCK_BYTES = 4_000


class _Stock(threading.local):
    """A thread's stock of random bytes; none of them is used twice, in no process."""

    def __init__(self) -> None:
        self.left = memoryview(b"")

    def take(self) -> memoryview:
        if not self.left:
            self.left = memoryview(os.urandom(_STOCK_BYTES))
        taken, self.left = self.left[:_CHANCE_BYTES], self.left[_CHANCE_BYTES:]
        return taken


_stock = _Stock()


def _forget_stock() -> None:
    global _stock
    _stock = _Stock()


# A forked process must not deal out what its parent has in stock.
os.register_at_fork(after_in_child=_forget_stock)


def new_id() -> UUID:
    """Return a version 7 UUID (RFC 9562): 48 bits of milliseconds, 74 bits of chance."""
    chance = int.from_bytes(_stock.take(), "big")
    milliseconds = database_clock.now_ns() // 1_000_000
    high_chance = (chance >> 62) & 0xFFF
    low_chance = chance & ((1 << 62) - 1)
    return UUID(int=(milliseconds << 80) | _VERSION_7 | (high_chance << 64) | _VARIANT | low_chance)
