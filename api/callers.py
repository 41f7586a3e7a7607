"""Who is calling: an API key, looked up by its hash through a cache of a few seconds.

The cache is what lets a signed sale ask the database nothing about its key. A revoked key, a changed plan and a
connected gateway take effect within KEY_CACHE_S.
"""

import hashlib
import threading
import time

from flask import Request

import settings
from adapters import sealing
from models import db, organizations
from models.organizations import KeyHolder

# More keys than one process sees in a few seconds; past it everything is forgotten and looked up again.
_CACHE_SIZE = 10_000

_cached: dict[bytes, tuple[float, KeyHolder | None]] = {}
_lock = threading.Lock()


def bearer(request: Request, *, takes_legacy_header: bool = False) -> str | None:
    """Return the API key that was sent; Authorization wins over the legacy header. Source: tracking spec, section 4."""
    authorization = request.headers.get("Authorization")
    if authorization is not None:
        kind, _, value = authorization.partition(" ")
        return value.strip() if kind.lower() == "bearer" else None
    return request.headers.get("X-Service-Api-Key") if takes_legacy_header else None


def key_holder(key: str | None) -> KeyHolder | None:
    """Return whom a key speaks for, or None. An unknown key costs what a known one does."""
    if not key:
        return None
    key_hash = hashlib.sha256(key.encode("utf-8", "surrogateescape")).digest()
    found = _cached.get(key_hash)
    if found is not None and found[0] > time.monotonic():
        return found[1]
    with db.any_org_work():
        holder = organizations.any_org_key_holder(key_hash)
    _remember(key_hash, holder)
    return holder


def signing_secret(holder: KeyHolder) -> bytes:
    """Return the secret that this key's requests are signed with."""
    return sealing.unseal(holder.signing_secret_sealed, belongs_to=str(holder.key_id)).encode()


def forget_cached() -> None:
    """Forget every key of this process: after a change made in it, and between tests."""
    with _lock:
        _cached.clear()


def _remember(key_hash: bytes, holder: KeyHolder | None) -> None:
    seconds = settings.current().key_cache_s
    if not seconds:
        return
    with _lock:
        if len(_cached) >= _CACHE_SIZE:
            _cached.clear()
        _cached[key_hash] = (time.monotonic() + seconds, holder)
