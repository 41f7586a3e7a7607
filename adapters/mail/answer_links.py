"""Links in emails with which an applicant opens the second step of an application form.

A link identifies the applicant, for this form only and until it expires; it is not stored. Whether the form still has
a second step is checked elsewhere.
"""

import base64
import binascii
import hmac
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

import settings
from adapters import derived_keys

#: Lifetime of a link, which may be used any number of times.
LIFETIME = timedelta(days=14)

_USE = "answers"
_ID_BYTES = 16
_TIME_BYTES = 4
# In total 63 bytes: a multiple of three, so that every bit of the text is significant.
_PROOF_BYTES = 27
_LENGTH = (2 * _ID_BYTES + _TIME_BYTES + _PROOF_BYTES) // 3 * 4


@dataclass(frozen=True, slots=True)
class Applicant:
    """The applicant that a link identifies."""

    organization_id: UUID
    affiliate_id: UUID


def build_url(applicant: Applicant, *, now: datetime) -> str:
    """Return the URL for an email."""
    return f"{settings.current().web.url}/p/answers/{encode(applicant, now=now)}"


def encode(applicant: Applicant, *, now: datetime) -> str:
    """Return a token that identifies an applicant for `LIFETIME` from now, signed with the current key."""
    until = int((now + LIFETIME).timestamp()).to_bytes(_TIME_BYTES, "big")
    payload = applicant.organization_id.bytes + applicant.affiliate_id.bytes + until
    return base64.urlsafe_b64encode(payload + _sign(derived_keys.current_key(_USE), payload)).decode()


def decode(text: str, *, now: datetime) -> Applicant | None:
    """Return the applicant of a token; None if it has expired or is invalid. Never raises."""
    if len(text) != _LENGTH:
        return None
    try:
        decoded = base64.b64decode(text.encode("ascii"), altchars=b"-_", validate=True)
    except (UnicodeEncodeError, binascii.Error):
        return None
    payload, proof = decoded[:-_PROOF_BYTES], decoded[-_PROOF_BYTES:]
    if not any(hmac.compare_digest(_sign(key, payload), proof) for key in derived_keys.accepted_keys(_USE)):
        return None
    if int.from_bytes(payload[2 * _ID_BYTES :], "big") <= now.timestamp():
        return None
    return Applicant(UUID(bytes=payload[:_ID_BYTES]), UUID(bytes=payload[_ID_BYTES : 2 * _ID_BYTES]))


def _sign(key: bytes, payload: bytes) -> bytes:
    return hmac.digest(key, payload, "sha256")[:_PROOF_BYTES]
