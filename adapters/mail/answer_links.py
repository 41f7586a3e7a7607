"""Links in emails with which an applicant opens the second step of an application form.

A link identifies the applicant, for this form only and until it expires; it is not stored. Whether the form still has
a second step is checked elsewhere.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

import settings
from adapters.secret_key.signed_payloads import SignedPayload

#: Lifetime of a link, which may be used any number of times.
LIFETIME = timedelta(days=14)

_ID_BYTES = 16
_TIME_BYTES = 4
_SIGNED = SignedPayload("answers", 2 * _ID_BYTES + _TIME_BYTES, proof_bytes=27)


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
    return _SIGNED.encode(applicant.organization_id.bytes + applicant.affiliate_id.bytes + until)


def decode(text: str, *, now: datetime) -> Applicant | None:
    """Return the applicant of a token; None if it has expired or is invalid. Never raises."""
    payload = _SIGNED.decode(text)
    if payload is None or int.from_bytes(payload[2 * _ID_BYTES :], "big") <= now.timestamp():
        return None
    return Applicant(UUID(bytes=payload[:_ID_BYTES]), UUID(bytes=payload[_ID_BYTES : 2 * _ID_BYTES]))
