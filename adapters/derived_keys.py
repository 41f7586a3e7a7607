"""Keys of 32 bytes that follow from SECRET_KEY, one per use, so that what is made for one use cannot serve another.

New things are made with the key in force; what the former ones made (SECRET_KEY_PREVIOUS) is believed as long as they
are listed. docs/decisions/0016 says what each use does with them.
"""

import functools
import hashlib

import settings
from settings import secret_keys


@functools.cache
def current(use: str) -> bytes:
    """Return the key that new things are made with."""
    return believed(use)[0]


@functools.cache
def believed(use: str) -> tuple[bytes, ...]:
    """Return every key that things may have been made with, the one in force first."""
    keys = secret_keys.accepted_keys(settings.current().servers)
    return tuple(hashlib.sha256(f"finderfee/{use}/{key}".encode()).digest() for key in keys)


def forget_cached() -> None:
    """Read the settings again: between tests."""
    current.cache_clear()
    believed.cache_clear()
