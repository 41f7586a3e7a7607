"""Seals the secrets that must be read back (signing secrets) with a key that is not in the database.

AES-256-GCM with a random nonce; what a secret belongs to is bound in, so a sealed value copied to another row does
not open there. A value that a former SECRET_KEY sealed opens while that key is listed in SECRET_KEY_PREVIOUS.
"""

import functools
import os

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from adapters import derived_keys

_USE = "seal"
_VERSION = b"\x01"
_NONCE_BYTES = 12


class CannotOpen(Exception):
    """A sealed value that none of our keys opens: SECRET_KEY was changed, or the value belongs elsewhere."""


def seal(secret: str, *, belongs_to: str) -> bytes:
    """Return `secret` sealed for its owner (an id, as text)."""
    nonce = os.urandom(_NONCE_BYTES)
    return _VERSION + nonce + _ciphers()[0].encrypt(nonce, secret.encode(), belongs_to.encode())


@functools.lru_cache(maxsize=10_000)
def unseal(sealed: bytes, *, belongs_to: str) -> str:
    """Return the secret of a sealed value, or raise CannotOpen."""
    return _opened(sealed, belongs_to)[0]


def resealed(sealed: bytes, *, belongs_to: str) -> bytes | None:
    """Return what a former key sealed, sealed with the one in force; None for what is sealed with that already.

    Raises CannotOpen. Keeps nothing in memory.
    """
    secret, is_current = _opened(sealed, belongs_to)
    return None if is_current else seal(secret, belongs_to=belongs_to)


def is_current(sealed: bytes, *, belongs_to: str) -> bool:
    """Say whether the key in force sealed this, and not a former one. Raises CannotOpen; keeps nothing in memory."""
    return _opened(sealed, belongs_to)[1]


def _opened(sealed: bytes, belongs_to: str) -> tuple[str, bool]:
    """Return the secret, and whether the key in force sealed it."""
    if not sealed.startswith(_VERSION):
        raise CannotOpen("A sealed secret has a version that this release does not know.")
    nonce, body = sealed[1 : 1 + _NONCE_BYTES], sealed[1 + _NONCE_BYTES :]
    for place, cipher in enumerate(_ciphers()):
        try:
            return cipher.decrypt(nonce, body, belongs_to.encode()).decode(), place == 0
        except (InvalidTag, ValueError):  # ValueError: cut short
            continue
    raise CannotOpen(
        "A sealed secret does not open with this SECRET_KEY. Start with the key that it was sealed with, list that in "
        "SECRET_KEY_PREVIOUS, or rotate the secret."
    )


def forget_cached() -> None:
    """Read the settings again: between tests."""
    derived_keys.forget_cached()
    _ciphers.cache_clear()
    unseal.cache_clear()


@functools.cache
def _ciphers() -> tuple[AESGCM, ...]:
    return tuple(AESGCM(key) for key in derived_keys.believed(_USE))
