"""Links in emails with which a member switches off the emails of one kind, without signing in (RFC 8058).

A link works for this member and kind only, and as long as SECRET_KEY or SECRET_KEY_PREVIOUS has its key; it is not
stored.
"""

import base64
import binascii
import hmac
from dataclasses import dataclass
from uuid import UUID

import settings
from adapters import derived_keys

_USE = "unsubscribe"
_ID_BYTES = 16
# In total 60 bytes: a multiple of three, so that every bit of the text is significant.
_PROOF_BYTES = 27
_LENGTH = (2 * _ID_BYTES + 1 + _PROOF_BYTES) // 3 * 4


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
    payload = ids + bytes([subscription.kind_code])
    return base64.urlsafe_b64encode(payload + _sign(derived_keys.current_key(_USE), payload)).decode()


def decode(text: str) -> EmailSubscription | None:
    """Return the subscription of a token; None if it is invalid. Never raises."""
    if len(text) != _LENGTH:
        return None
    try:
        decoded = base64.b64decode(text.encode("ascii"), altchars=b"-_", validate=True)
    except (UnicodeEncodeError, binascii.Error):
        return None
    payload, proof = decoded[:-_PROOF_BYTES], decoded[-_PROOF_BYTES:]
    if not any(hmac.compare_digest(_sign(key, payload), proof) for key in derived_keys.accepted_keys(_USE)):
        return None
    return EmailSubscription(
        organization_id=UUID(bytes=payload[:_ID_BYTES]),
        member_id=UUID(bytes=payload[_ID_BYTES : 2 * _ID_BYTES]),
        kind_code=payload[-1],
    )


def _sign(key: bytes, payload: bytes) -> bytes:
    return hmac.digest(key, payload, "sha256")[:_PROOF_BYTES]
