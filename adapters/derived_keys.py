"""Keys of 32 bytes derived from SECRET_KEY, one per use, so that a value of one use is invalid for another.

New values are made with the current key; values of former keys are accepted while these are listed in
SECRET_KEY_PREVIOUS. docs/decisions/0016 says what each use does with them.
"""

import functools
import hashlib

import settings
from settings import secret_keys


@functools.cache
def current_key(use: str) -> bytes:
    """Return the key for new values."""
    return accepted_keys(use)[0]


@functools.cache
def accepted_keys(use: str) -> tuple[bytes, ...]:
    """Return all accepted keys, the current one first."""
    keys = secret_keys.accepted_keys(settings.current().servers)
    return tuple(hashlib.sha256(f"finderfee/{use}/{key}".encode()).digest() for key in keys)


def clear_caches() -> None:
    """Read the settings again; for tests."""
    current_key.cache_clear()
    accepted_keys.cache_clear()
