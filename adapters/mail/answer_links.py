"""Links in letters behind which somebody who applied answers the second step of a form.

Who has such a link is taken for that applicant, in this one matter and until it ends; nothing of it is kept. Whether
anything is still asked behind it is not its business.
"""

import base64
import binascii
import hmac
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

import settings
from adapters import derived_keys

#: For how long a link is good, however often it is used.
LASTS = timedelta(days=14)

_USE = "answers"
_ID_BYTES = 16
_TIME_BYTES = 4
# With the rest it makes 63 bytes: a multiple of three, so that every bit of the text counts.
_PROOF_BYTES = 27
_LENGTH = (2 * _ID_BYTES + _TIME_BYTES + _PROOF_BYTES) // 3 * 4


@dataclass(frozen=True, slots=True)
class Applicant:
    """Whose application a link is about."""

    organization_id: UUID
    affiliate_id: UUID


def address(applicant: Applicant, *, now: datetime) -> str:
    """Return the address for a letter."""
    return f"{settings.current().web.url}/p/answers/{token(applicant, now=now)}"


def token(applicant: Applicant, *, now: datetime) -> str:
    """Return what names an applicant for `LASTS` from now on, made with the key in force."""
    until = int((now + LASTS).timestamp()).to_bytes(_TIME_BYTES, "big")
    named = applicant.organization_id.bytes + applicant.affiliate_id.bytes + until
    return base64.urlsafe_b64encode(named + _proof(derived_keys.current(_USE), named)).decode()


def read(sent: str, *, now: datetime) -> Applicant | None:
    """Return whom a token names; None for one that is over, and for every text that is none. Never raises."""
    if len(sent) != _LENGTH:
        return None
    try:
        whole = base64.b64decode(sent.encode("ascii"), altchars=b"-_", validate=True)
    except (UnicodeEncodeError, binascii.Error):
        return None
    named, proof = whole[:-_PROOF_BYTES], whole[-_PROOF_BYTES:]
    if not any(hmac.compare_digest(_proof(key, named), proof) for key in derived_keys.believed(_USE)):
        return None
    if int.from_bytes(named[2 * _ID_BYTES :], "big") <= now.timestamp():
        return None
    return Applicant(UUID(bytes=named[:_ID_BYTES]), UUID(bytes=named[_ID_BYTES : 2 * _ID_BYTES]))


def _proof(key: bytes, named: bytes) -> bytes:
    return hmac.digest(key, named, "sha256")[:_PROOF_BYTES]
