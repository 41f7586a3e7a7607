"""Links to private files: whoever has one may open the file until it expires, as often as they like.

Source: core spec, "Affiliate" (tax form: presigned, valid 300 seconds, not single-use).
"""

import functools
import hashlib
import hmac
from datetime import datetime
from uuid import UUID

import settings

EXPIRES_IN_S = 300

_LONGEST_TIME = 12


def signed(file_id: UUID, *, now: datetime) -> str:
    """Return the address of a file, good for EXPIRES_IN_S seconds."""
    expires = str(int(now.timestamp()) + EXPIRES_IN_S)
    base = settings.current().public_base_url
    return f"{base}/api/files/{file_id}?expires={expires}&signature={_signature(file_id, expires)}"


def is_good(file_id: UUID, *, expires: str, signature: str, now: datetime) -> bool:
    """Say whether `signed` gave this out for this file and its time has not come yet. Never raises."""
    if not (expires.isascii() and expires.isdigit() and len(expires) <= _LONGEST_TIME):
        return False
    is_ours = hmac.compare_digest(_signature(file_id, expires).encode(), signature.encode("utf-8", "replace"))
    return is_ours and int(now.timestamp()) < int(expires)


def _signature(file_id: UUID, expires: str) -> str:
    return hmac.new(_key(), f"{file_id}.{expires}".encode(), "sha256").hexdigest()


@functools.cache
def _key() -> bytes:
    return hashlib.sha256(b"finderfee/file/" + settings.secret_key(settings.current()).encode()).digest()
