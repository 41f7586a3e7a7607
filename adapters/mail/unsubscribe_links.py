"""Links in emails with which a member switches off the emails of one kind, without signing in (RFC 8058).

A link works for this member and kind only, and as long as SECRET_KEY or SECRET_KEY_PREVIOUS has its key; it is not
stored.
"""

from dataclasses import dataclass
from uuid import UUID

import settings
from adapters.secret_key.signed_payloads import SignedPayload

_ID_BYTES = 16
_SIGNED = SignedPayload("unsubscribe", 2 * _ID_BYTES + 1, proof_bytes=27)


@dataclass(frozen=True, slots=True)
class EmailSubscription:
    """The emails that a link switches off: those of one kind, by its code, to one member."""

    organization_id: UUID
    member_id: UUID
    kind_code: int


def build_url(subscription: EmailSubscription) -> str:
    """Return the URL for an email."""
    return f"{settings.current().web.url}/unsubscribe/{encode(subscription)}"


def encode(subscription: EmailSubscription) -> str:
    """Return a token for a subscription, signed with the current key."""
    ids = subscription.organization_id.bytes + subscription.member_id.bytes
    return _SIGNED.encode(ids + bytes([subscription.kind_code]))


def decode(text: str) -> EmailSubscription | None:
    """Return the subscription of a token; None if it is invalid. Never raises."""
    payload = _SIGNED.decode(text)
    if payload is None:
        return None
    return EmailSubscription(
        organization_id=UUID(bytes=payload[:_ID_BYTES]),
        member_id=UUID(bytes=payload[_ID_BYTES : 2 * _ID_BYTES]),
        kind_code=payload[-1],
    )
