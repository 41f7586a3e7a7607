"""Seals the secrets that must be read back (signing secrets) with a key that is not in the database.

AES-256-GCM with a random nonce; what a secret belongs to is bound in, so a sealed value copied to another row does
not open there.
"""

import functools
import hashlib
import os

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

import settings

_VERSION = b"\x01"
_NONCE_BYTES = 12


class CannotOpen(Exception):
    """A sealed value that this SECRET_KEY does not open: the key was changed, or the value belongs elsewhere."""


def seal(secret: str, *, belongs_to: str) -> bytes:
    """Return `secret` sealed for its owner (an id, as text)."""
    nonce = os.urandom(_NONCE_BYTES)
    return _VERSION + nonce + _cipher().encrypt(nonce, secret.encode(), belongs_to.encode())


@functools.lru_cache(maxsize=10_000)
def unseal(sealed: bytes, *, belongs_to: str) -> str:
    """Return the secret of a sealed value, or raise CannotOpen."""
    nonce, body = sealed[1 : 1 + _NONCE_BYTES], sealed[1 + _NONCE_BYTES :]
    try:
        return _cipher().decrypt(nonce, body, belongs_to.encode()).decode()
    except (InvalidTag, ValueError) as error:  # ValueError: cut short
        raise CannotOpen(
            "A sealed secret does not open with this SECRET_KEY. Start with the key that it was sealed with, "
            "or rotate the secret."
        ) from error


@functools.cache
def _cipher() -> AESGCM:
    return AESGCM(hashlib.sha256(b"finderfee/seal/" + settings.secret_key(settings.current()).encode()).digest())
