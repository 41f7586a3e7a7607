"""API keys: made once, shown once.

Source: core spec, section 5; tracking spec, section 5 (the separate signing secret).
"""

import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from adapters import sealing
from domain.refused import Refused
from models import ids, organizations

_PREFIX = "ff"


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key at the only moment when its two secrets are readable."""

    id: UUID
    api_key: str
    signing_secret: str


def create(
    *, organization_id: UUID, scope: str, is_test: bool, name: str, user_email: str | None, now: datetime
) -> NewKey:
    """Create an API key that belongs to a member (by default the first Owner), whose rate limit it shares."""
    if organizations.find(organization_id) is None:
        raise Refused(404, "not_found", f"There is no organization {organization_id}; `flask org list` shows them.")
    member = organizations.find_member(
        organization_id=organization_id, email=(user_email or "").strip().lower() or None
    )
    if member is None:
        raise Refused(404, "not_found", f"The organization has no member {user_email or 'with the role Owner'}.")
    key_id = ids.new_id()
    api_key = f"{_PREFIX}_{'test' if is_test else 'live'}_{secrets.token_urlsafe(32)}"
    signing_secret = f"ffsec_{secrets.token_urlsafe(32)}"
    organizations.insert_key(
        {
            "id": key_id,
            "organization_id": organization_id,
            "member_id": member.id,
            "name": name,
            "scope": scope,
            "is_test": is_test,
            "last_four": api_key[-4:],
            "key_hash": hashlib.sha256(api_key.encode()).digest(),
            "signing_secret_sealed": sealing.seal(signing_secret, belongs_to=str(key_id)),
            "created_at": now,
        }
    )
    return NewKey(id=key_id, api_key=api_key, signing_secret=signing_secret)
