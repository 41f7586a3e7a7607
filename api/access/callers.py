"""Callers of the API: an API key, a program that a person authorized, a dashboard user, or an affiliate.

Callers are cached for a few seconds, so that a signed sale needs no query about its key. A revoked key, a changed plan
and a connected gateway take effect within KEY_CACHE_S. Rejected keys have a cache of their own, so that no number of
guesses evicts a valid key. `api.access.unknown_senders` counts them: when a blocked address sends a key that is not
cached, the key is compared with a list of all keys in force, which is read once per KEY_CACHE_S.
"""

import hashlib
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, TypeVar
from uuid import UUID

from flask import Request

import settings
from adapters import clock
from adapters.secret_key import sealing
from api.access import unknown_senders
from domain.organization import time_zones
from domain.organization.access import Role
from models import db
from models.organization import api_keys

# The last use of a key is stored to the hour, so that hardly any look-up writes.
_USED_EVERY = timedelta(hours=1)

# More callers than one process sees in a few seconds; when it is full, the cache is cleared.
_CACHE_SIZE = 10_000

# A caller stays here after its entry expires, until a look-up rejects it: a cached caller is looked up again even while
# unknown senders are blocked.
_cached: dict[bytes, tuple[float, object]] = {}
_rejected: dict[bytes, tuple[float, "RejectedKey"]] = {}
_lock = threading.Lock()

Holder = TypeVar("Holder")


@dataclass(frozen=True, slots=True)
class Caller:
    """A caller that acts for an organization, with the organization's plan.

    `id` is the key's or the member's; `member_id` is the person whose rate limit counts. A key has the role Owner, a
    member the scope read_write; "oauth" (a program that a member authorized) has the role and scope of its token, and
    the scope "none" if the token has none. Only a key has a signing secret. `signed_in_at` is the time of a member's
    login, None for a key or if it is unknown; it is fresh for `max_login_age_s` at most, if that is set.
    `lacks_second_factor`: the organization requires one, and this member has none. `timezone` is the organization's for
    members, `unread_count` the number of their unread notifications, up to 100.
    """

    kind: Literal["api_key", "oauth", "member"]
    id: UUID
    organization_id: UUID
    member_id: UUID
    label: str
    scope: str
    role: Role
    is_email_verified: bool
    is_interactive: bool
    is_test: bool
    plan_tier: str
    subscription_status: str
    trial_ends_at: datetime | None
    gateways: tuple[str, ...]
    signed_in_at: datetime | None = None
    max_login_age_s: int | None = None
    lacks_second_factor: bool = False
    signing_secret_sealed: bytes = b""
    timezone: str = time_zones.DEFAULT
    unread_count: int = 0

    @property
    def is_integration(self) -> bool:
        """Whether this is an integration and not a person."""
        return self.kind != "member"


@dataclass(frozen=True, slots=True)
class RejectedKey:
    """A key that was rejected. `fault` is key_missing, key_unknown or key_revoked; it only goes to our log."""

    fault: str
    key_id: UUID | None = None


def read_bearer(request: Request, *, takes_legacy_header: bool = False) -> str | None:
    """Return the bearer value; Authorization wins over the legacy header. Source: tracking spec, section 4."""
    authorization = request.headers.get("Authorization")
    if authorization is not None:
        kind, _, value = authorization.partition(" ")
        return value.strip() if kind.lower() == "bearer" else None
    return request.headers.get("X-Service-Api-Key") if takes_legacy_header else None


def find_key_holder(key: str | None) -> Caller | RejectedKey:
    """Return the caller of an API key, or why the key is rejected.

    Budget: 1 statement, none within KEY_CACHE_S after the last, and once an hour another with the commit; none for a
    blocked address, except that the list of keys in force is read once per KEY_CACHE_S.
    """
    if not key:
        return RejectedKey("key_missing")
    name, digest = _cache_key(key, "key")
    now = time.monotonic()
    cached, rejected = _cached.get(name), _rejected.get(name)
    if cached is not None and cached[0] > now:
        return cached[1]  # type: ignore[return-value]  # the cache key includes the kind of its value
    if rejected is not None and rejected[0] > now:
        return rejected[1]
    if cached is None and unknown_senders.is_blocked() and not _keys_in_force.has(digest):
        return RejectedKey("key_unknown")
    holder = _query_key_holder(digest)
    if isinstance(holder, RejectedKey):
        unknown_senders.count_unknown()
        _remember_rejected(name, holder)
    else:
        _remember(name, holder, float("inf"))
    return holder


def is_token(bearer_value: str | None) -> bool:
    """Return whether a bearer value has the shape of a JWT; API keys have no dots."""
    return bearer_value is not None and bearer_value.count(".") == 2


def unseal_signing_secret(holder: Caller) -> bytes:
    """Return the secret that signs this key's requests."""
    return sealing.unseal(holder.signing_secret_sealed, belongs_to=str(holder.id)).encode()


def find_cached(
    credential: str | None,
    kind: str,
    find: Callable[[str], tuple[Holder | None, float]],
    *,
    is_current: bool = False,
) -> Holder | None:
    """Return the holder of a credential from the cache, else from `find`, which also says how long it lasts.

    If it has to be the current one, `find` decides. Credentials without a holder are not cached.
    """
    if not credential:
        return None
    name, _ = _cache_key(credential, kind)
    cached = _cached.get(name)
    if cached is not None and cached[0] > time.monotonic() and not is_current:
        return cached[1]  # type: ignore[return-value]  # the cache key includes the kind of its value
    holder, lasts_s = find(credential)
    if holder is not None:
        _remember(name, holder, lasts_s)
    else:
        forget(credential, kind)
    return holder


def is_cached(credential: str, kind: str) -> bool:
    """Return whether this process has found the holder of a credential before; it may have expired since."""
    return _cache_key(credential, kind)[0] in _cached


def forget(credential: str, kind: str) -> None:
    """Remove a credential that has just ended from the cache of this process."""
    with _lock:
        _cached.pop(_cache_key(credential, kind)[0], None)


def clear_cache() -> None:
    """Remove all callers from the cache of this process: after a change made in it, and between tests."""
    with _lock:
        _cached.clear()
        _rejected.clear()
    _keys_in_force.forget()


class _KeysInForce:
    """A recent list of all keys in force, read only while an address is blocked for trying keys."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._starts: frozenset[bytes] = frozenset()
        self._until = 0.0

    def has(self, key_hash: bytes) -> bool:
        """Return whether a key may be in force; one in 2**64 other keys passes too."""
        with self._lock:
            if self._until <= time.monotonic():
                with db.any_org_work():
                    self._starts = api_keys.any_org_list_hash_starts()
                self._until = time.monotonic() + max(settings.current().web.key_cache_s, 1)
            return key_hash[: api_keys.HASH_START] in self._starts

    def forget(self) -> None:
        """Read the list again at the next key."""
        self._until = 0.0


_keys_in_force = _KeysInForce()


def _cache_key(credential: str, kind: str) -> tuple[bytes, bytes]:
    digest = hashlib.sha256(credential.encode("utf-8", "surrogateescape")).digest()
    return kind.encode() + digest, digest


def _query_key_holder(key_hash: bytes) -> Caller | RejectedKey:
    with db.any_org_work():
        holder = api_keys.any_org_find_holder(key_hash)
        _note_use(holder)
    if holder is None:
        return RejectedKey("key_unknown")
    if holder.revoked_at is not None:
        return RejectedKey("key_revoked", holder.key_id)
    return Caller(
        kind="api_key",
        id=holder.key_id,
        organization_id=holder.organization_id,
        member_id=holder.member_id,
        label=f"API key {holder.key_id}",
        scope=holder.scope,
        role=Role.Owner,
        is_email_verified=True,
        is_interactive=False,
        is_test=holder.is_test,
        plan_tier=holder.plan_tier,
        subscription_status=holder.subscription_status,
        trial_ends_at=holder.trial_ends_at,
        gateways=holder.gateways,
        signing_secret_sealed=holder.signing_secret_sealed,
    )


def _note_use(holder: api_keys.KeyHolder | None) -> None:
    if holder is None or holder.revoked_at is not None:
        return
    now = clock.now()
    if holder.last_used_at is None or now - holder.last_used_at > _USED_EVERY:
        api_keys.stage_last_used(organization_id=holder.organization_id, key_id=holder.key_id, at=now)


def _remember(name: bytes, holder: object, lasts_s: float) -> None:
    seconds = min(settings.current().web.key_cache_s, lasts_s)
    with _lock:
        _rejected.pop(name, None)
        if len(_cached) >= _CACHE_SIZE:
            _cached.clear()
        _cached[name] = (time.monotonic() + seconds, holder)


def _remember_rejected(name: bytes, rejected: RejectedKey) -> None:
    with _lock:
        _cached.pop(name, None)
        if len(_rejected) >= _CACHE_SIZE:
            _rejected.clear()
        _rejected[name] = (time.monotonic() + settings.current().web.key_cache_s, rejected)
