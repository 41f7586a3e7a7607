"""Creation and rotation of API keys; a key is shown once.

Source: core spec, section 5; tracking spec, section 5 (the separate signing secret).
"""

import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from adapters.secret_key import sealing
from domain.refusals import Refused, not_found
from models import advisory_locks, ids
from models.organization import api_keys, members, organizations

#: Maximum number of active keys per organization.
MAX_IN_FORCE = 100

_PREFIX = "ff"


@dataclass(frozen=True, slots=True)
class IssuedKey:
    """A new key with its two secrets, which are never readable again."""

    id: UUID
    api_key: str
    signing_secret: str


def create(
    *, organization_id: UUID, scope: str, is_test: bool, name: str, user_email: str | None, now: datetime
) -> IssuedKey:
    """Create an API key for a member known by email (by default the first Owner), as an operator does.

    Raises Refused: 404 not_found; what `create_for` raises.
    """
    if organizations.find(organization_id) is None:
        raise Refused(404, "not_found", f"There is no organization {organization_id}; `flask org list` shows them.")
    member = members.find(organization_id=organization_id, email=(user_email or "").strip().lower() or None)
    if member is None:
        raise Refused(404, "not_found", f"The organization has no member {user_email or 'with the role Owner'}.")
    return create_for(
        organization_id=organization_id, member_id=member.id, scope=scope, is_test=is_test, name=name, now=now
    )


def create_for(
    *, organization_id: UUID, member_id: UUID, scope: str, is_test: bool, name: str, now: datetime
) -> IssuedKey:
    """Create an API key that belongs to a member, whose rate limit it shares.

    Raises Refused 409 api_key_limit_reached.
    """
    advisory_locks.stage_api_keys_lock(organization_id)
    if api_keys.count_in_force(organization_id) >= MAX_IN_FORCE:
        message = f"An organization has at most {MAX_IN_FORCE} active keys; revoke one first."
        raise Refused(409, "api_key_limit_reached", message)
    return _insert(organization_id, member_id, scope=scope, is_test=is_test, name=name, now=now)


def rotate(*, organization_id: UUID, member_id: UUID, key_id: UUID, now: datetime) -> IssuedKey:
    """Revoke a key and create one like it, which belongs to the member who rotates.

    Raises Refused 404 not_found if there is no active key.
    """
    former = api_keys.find(organization_id=organization_id, key_id=key_id)
    # Of two concurrent rotations, one finds no key left to revoke.
    if former is None or not api_keys.revoke(organization_id=organization_id, key_id=key_id, at=now):
        raise not_found("API key", key_id)
    return _insert(organization_id, member_id, scope=former.scope, is_test=former.is_test, name=former.name, now=now)


def _insert(
    organization_id: UUID, member_id: UUID, *, scope: str, is_test: bool, name: str, now: datetime
) -> IssuedKey:
    key_id = ids.new_id()
    api_key = f"{_PREFIX}_{'test' if is_test else 'live'}_{secrets.token_urlsafe(32)}"
    signing_secret = f"ffsec_{secrets.token_urlsafe(32)}"
    api_keys.insert(
        {
            "id": key_id,
            "organization_id": organization_id,
            "member_id": member_id,
            "name": name,
            "scope": scope,
            "is_test": is_test,
            "last_four": api_key[-4:],
            "key_hash": hashlib.sha256(api_key.encode()).digest(),
            "signing_secret_sealed": sealing.seal(signing_secret, belongs_to=str(key_id)),
            "created_at": now,
        }
    )
    return IssuedKey(id=key_id, api_key=api_key, signing_secret=signing_secret)
