"""Ids: UUIDs that sort by the time they were made, so that a million rows append to an index instead of scattering."""

import os
import time
from uuid import UUID

_VERSION_7 = 0x7 << 76
_VARIANT = 0x2 << 62


def new_id() -> UUID:
    """Return a version 7 UUID (RFC 9562): 48 bits of milliseconds, 74 bits of chance."""
    chance = int.from_bytes(os.urandom(10), "big")
    milliseconds = time.time_ns() // 1_000_000
    high_chance = (chance >> 62) & 0xFFF
    low_chance = chance & ((1 << 62) - 1)
    return UUID(int=(milliseconds << 80) | _VERSION_7 | (high_chance << 64) | _VARIANT | low_chance)
