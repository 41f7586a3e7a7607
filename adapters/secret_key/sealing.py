"""Encrypts (seals) secrets that must be readable again, with a key that is not in the database.

AES-256-GCM with a random nonce; the owner's id is authenticated, so a sealed value copied to another row cannot be
unsealed there. Values of a former SECRET_KEY can be unsealed while it is listed in SECRET_KEY_PREVIOUS.
"""

import functools
import os

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from adapters.secret_key import derived_keys

_USE = "seal"
_VERSION = b"\x01"
_NONCE_BYTES = 12


class CannotUnseal(Exception):
    """No key unseals a value: SECRET_KEY was changed, or the value belongs to another row."""


def seal(secret: str, *, belongs_to: str) -> bytes:
    """Return `secret` sealed for its owner (an id, as text)."""
    nonce = os.urandom(_NONCE_BYTES)
    return _VERSION + nonce + _ciphers()[0].encrypt(nonce, secret.encode(), belongs_to.encode())


@functools.lru_cache(maxsize=10_000)
def unseal(sealed: bytes, *, belongs_to: str) -> str:
    """Return the secret of a sealed value, or raise CannotUnseal."""
    return _open(sealed, belongs_to)[0]


def reseal(sealed: bytes, *, belongs_to: str) -> bytes | None:
    """Return a value of a former key sealed with the current one; None if it is sealed with that already.

    Raises CannotUnseal. Caches nothing.
    """
    secret, is_current = _open(sealed, belongs_to)
    return None if is_current else seal(secret, belongs_to=belongs_to)


def is_current(sealed: bytes, *, belongs_to: str) -> bool:
    """Return whether the current key sealed this, and not a former one. Raises CannotUnseal. Caches nothing."""
    return _open(sealed, belongs_to)[1]


def _open(sealed: bytes, belongs_to: str) -> tuple[str, bool]:
    """Return the secret, and whether the current key sealed it."""
    if not sealed.startswith(_VERSION):
        raise CannotUnseal("A sealed secret has a version that this release does not know.")
    nonce, body = sealed[1 : 1 + _NONCE_BYTES], sealed[1 + _NONCE_BYTES :]
    for position, cipher in enumerate(_ciphers()):
        try:
            return cipher.decrypt(nonce, body, belongs_to.encode()).decode(), position == 0
        except (InvalidTag, ValueError):  # ValueError: cut short
            continue
    raise CannotUnseal(
        "A sealed secret cannot be read with this SECRET_KEY. Next: start with the key that sealed it, list it in "
        "SECRET_KEY_PREVIOUS, or rotate the secret."
    )


def clear_caches() -> None:
    """Read the settings again; for tests."""
    derived_keys.clear_caches()
    _ciphers.cache_clear()
    unseal.cache_clear()


@functools.cache
def _ciphers() -> tuple[AESGCM, ...]:
    return tuple(AESGCM(key) for key in derived_keys.accepted_keys(_USE))
