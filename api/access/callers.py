"""Who is calling: an API key, a program that a person let in, a person at the dashboard, or an affiliate.

Both are looked up through a cache of a few seconds, which is what lets a signed sale ask the database nothing about
its key. A revoked key, a changed plan and a connected gateway take effect within KEY_CACHE_S. Wrong keys are remembered
apart, so that however many are tried, none pushes out a good one. `api.access.strangers` counts them: a key
that this process does not know, from an address that tries keys, is looked for among all keys in force, read once in
KEY_CACHE_S.
"""

import dataclasses
import hashlib
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal, TypeVar
from uuid import UUID

from flask import Request

import settings
from adapters import clock, sealing
from adapters.identity import tokens
from adapters.identity.tokens import Claims
from api.access import strangers
from domain.organization import time_zones
from domain.organization.access import Role
from models import db
from models.organization import api_keys
from pipelines.organization import sign_in

# When a key was last used is known to the hour, so that hardly any look-up writes.
_USED_EVERY = timedelta(hours=1)

# More callers than one process sees in a few seconds; past it everything is forgotten and looked up again.
_CACHE_SIZE = 10_000

# What was found stays here after its time, until it is found otherwise: it is looked up again even while strangers
# are stopped.
_cached: dict[bytes, tuple[float, object]] = {}
_wrong: dict[bytes, tuple[float, "NotLetIn"]] = {}
_lock = threading.Lock()

Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class Caller:
    """Who speaks for an organization, and what the organization may do.

    `id` is the key's or the member's; `member_id` the person whose rate limit counts. A key has the role of an Owner,
    a member the scope read_write, "oauth" (a program that a member let in) both as its token says, and the scope "none"
    where it says nothing; only a key has a signing secret. `signed_in_at` is when a member logged in, None for
    a key and where nobody says. `timezone` is the organization's where a member signed in.
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
    signing_secret_sealed: bytes = b""
    timezone: str = time_zones.DEFAULT

    @property
    def is_integration(self) -> bool:
        """Say whether this is an integration and not a person."""
        return self.kind != "member"


@dataclass(frozen=True, slots=True)
class NotLetIn:
    """Why a key lets nobody in: key_missing, key_unknown or key_revoked. For our own log alone."""

    fault: str
    key_id: UUID | None = None


def bearer(request: Request, *, takes_legacy_header: bool = False) -> str | None:
    """Return what was sent; Authorization wins over the legacy header. Source: tracking spec, section 4."""
    authorization = request.headers.get("Authorization")
    if authorization is not None:
        kind, _, value = authorization.partition(" ")
        return value.strip() if kind.lower() == "bearer" else None
    return request.headers.get("X-Service-Api-Key") if takes_legacy_header else None


def key_holder(key: str | None) -> Caller | NotLetIn:
    """Return whom an API key speaks for, or why it speaks for nobody.

    Budget: 1 statement, none within KEY_CACHE_S after the last, and once an hour another with the commit; from an
    address that tries keys none, except that all of them are read now and then.
    """
    if not key:
        return NotLetIn("key_missing")
    name, digest = _named(key, "key")
    now = time.monotonic()
    kept, wrong = _cached.get(name), _wrong.get(name)
    if kept is not None and kept[0] > now:
        return kept[1]  # type: ignore[return-value]  # the name holds the kind of what is kept under it
    if wrong is not None and wrong[0] > now:
        return wrong[1]
    if kept is None and strangers.are_stopped() and not _in_force.has(digest):
        return NotLetIn("key_unknown")
    found = _find_key_holder(digest)
    if isinstance(found, NotLetIn):
        strangers.count()
        _remember_wrong(name, found)
    else:
        _remember(name, found, float("inf"))
    return found


def member(token: str | None) -> Caller | None:
    """Return who signed in to the dashboard with a token, or None."""
    return looked_up(token, "member", _find_member)


def account(token: str | None) -> sign_in.SignedInAffiliate | None:
    """Return which affiliate signed in with a token, or None."""
    return looked_up(token, "account", _find_account)


def member_of(claims: Claims) -> Caller | None:
    """Return the member whom claims of the dashboard speak for; None where their organization is not there."""
    if claims.organization_id is None:
        return None
    role = Role(claims.role or "")
    with db.unit_of_work(claims.organization_id):
        person = sign_in.sign_member_in(
            organization_id=claims.organization_id,
            subject=claims.subject,
            email=claims.email,
            is_email_verified=claims.is_email_verified,
            role=role,
            now=clock.now(),
        )
    if person is None or person.id is None:
        return None
    return Caller(
        kind="member",
        id=person.id,
        organization_id=claims.organization_id,
        member_id=person.id,
        label=claims.email or claims.subject,
        scope="read_write",
        role=role,
        is_email_verified=claims.is_email_verified,
        is_interactive=claims.session_id is not None,
        is_test=False,
        plan_tier=person.plan_tier,
        subscription_status=person.subscription_status,
        trial_ends_at=person.trial_ends_at,
        gateways=person.gateways,
        signed_in_at=_instant(claims.signed_in_at_s),
        timezone=person.timezone,
    )


def account_of(claims: Claims) -> sign_in.SignedInAffiliate:
    """Return the affiliate whom claims speak for."""
    with db.any_org_work():
        found = sign_in.any_org_sign_affiliate_in(
            subject=claims.subject, email=claims.email, is_email_verified=claims.is_email_verified, now=clock.now()
        )
    return dataclasses.replace(found, signed_in_at=_instant(claims.signed_in_at_s))


def is_token(bearer_value: str | None) -> bool:
    """Say whether a bearer value has the shape of a JWT; API keys have no dots."""
    return bearer_value is not None and bearer_value.count(".") == 2


def signing_secret(holder: Caller) -> bytes:
    """Return the secret that this key's requests are signed with."""
    return sealing.unseal(holder.signing_secret_sealed, belongs_to=str(holder.id)).encode()


def looked_up(sent: str | None, kind: str, find: Callable[[str], tuple[Found | None, float]]) -> Found | None:
    """Return what stands for what was `sent`, found by `find` with the seconds that it is good for, and remembered.

    Nothing is remembered of what stands for nobody.
    """
    if not sent:
        return None
    name, _ = _named(sent, kind)
    kept = _cached.get(name)
    if kept is not None and kept[0] > time.monotonic():
        return kept[1]  # type: ignore[return-value]  # the name holds the kind of what is kept under it
    found, good_for_s = find(sent)
    if found is not None:
        _remember(name, found, good_for_s)
    return found


def is_known(sent: str, kind: str) -> bool:
    """Say whether this process found before whom something that was `sent` stands for; it may have ended since."""
    return _named(sent, kind)[0] in _cached


def forget(sent: str, kind: str) -> None:
    """Forget what this process knows of something that was `sent`: it has just ended."""
    with _lock:
        _cached.pop(_named(sent, kind)[0], None)


def forget_cached() -> None:
    """Forget everyone whom this process knows: after a change made in it, and between tests."""
    with _lock:
        _cached.clear()
        _wrong.clear()
    _in_force.forget()


class _InForce:
    """All keys in force as they were a moment ago, read while somebody tries keys and at no other time."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._starts: frozenset[bytes] = frozenset()
        self._until = 0.0

    def has(self, key_hash: bytes) -> bool:
        """Say whether a key may be in force; one in 2**64 others looks as if it were."""
        with self._turn:
            if self._until <= time.monotonic():
                with db.any_org_work():
                    self._starts = api_keys.any_org_list_hash_starts()
                self._until = time.monotonic() + max(settings.current().web.key_cache_s, 1)
            return key_hash[: api_keys.HASH_START] in self._starts

    def forget(self) -> None:
        """Read them again at the next key."""
        self._until = 0.0


_in_force = _InForce()


def _named(sent: str, kind: str) -> tuple[bytes, bytes]:
    digest = hashlib.sha256(sent.encode("utf-8", "surrogateescape")).digest()
    return kind.encode() + digest, digest


def _find_key_holder(key_hash: bytes) -> Caller | NotLetIn:
    with db.any_org_work():
        holder = api_keys.any_org_find_holder(key_hash)
        _note_use(holder)
    if holder is None:
        return NotLetIn("key_unknown")
    if holder.revoked_at is not None:
        return NotLetIn("key_revoked", holder.key_id)
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


def _instant(at_s: int | None) -> datetime | None:
    return None if at_s is None else datetime.fromtimestamp(at_s, UTC)


def _find_member(token: str) -> tuple[Caller | None, float]:
    claims = tokens.dashboard(token)
    return (None, 0) if claims is None else (member_of(claims), claims.expires_at_s - clock.now().timestamp())


def _find_account(token: str) -> tuple[sign_in.SignedInAffiliate | None, float]:
    claims = tokens.affiliate(token)
    return (None, 0) if claims is None else (account_of(claims), claims.expires_at_s - clock.now().timestamp())


def _remember(name: bytes, found: object, good_for_s: float) -> None:
    seconds = min(settings.current().web.key_cache_s, good_for_s)
    with _lock:
        _wrong.pop(name, None)
        if len(_cached) >= _CACHE_SIZE:
            _cached.clear()
        _cached[name] = (time.monotonic() + seconds, found)


def _remember_wrong(name: bytes, found: NotLetIn) -> None:
    with _lock:
        _cached.pop(name, None)
        if len(_wrong) >= _CACHE_SIZE:
            _wrong.clear()
        _wrong[name] = (time.monotonic() + settings.current().web.key_cache_s, found)
