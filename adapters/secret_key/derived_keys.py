"""Keys of 32 bytes derived from SECRET_KEY, one per use, so that a value of one use is invalid for another.

New values are made with the current key. Values of a former key are accepted as long as SECRET_KEY_PREVIOUS lists it;
docs/decisions/0016 describes this for each use.
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
    """Make the next call read the settings again; for tests."""
    current_key.cache_clear()
    accepted_keys.cache_clear()
