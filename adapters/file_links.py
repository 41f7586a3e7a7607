"""Links to private files: a person who has one may open the file until it expires, as often as they like.

Source: core spec, "Affiliate" (tax form: presigned, valid 300 seconds, not single-use).
"""

import hmac
from datetime import datetime
from uuid import UUID

import settings
from adapters import derived_keys

EXPIRES_IN_S = 300

_LONGEST_TIME = 12
_USE = "file"


def signed(file_id: UUID, *, now: datetime) -> str:
    """Return the address of a file, good for EXPIRES_IN_S seconds."""
    expires = str(int(now.timestamp()) + EXPIRES_IN_S)
    signature = _signature(derived_keys.current(_USE), file_id, expires)
    return f"{settings.current().web.url}/api/files/{file_id}?expires={expires}&signature={signature}"


def is_good(file_id: UUID, *, expires: str, signature: str, now: datetime) -> bool:
    """Say whether `signed` gave this out for this file and its time has not come yet. Never raises."""
    if not (expires.isascii() and expires.isdigit() and len(expires) <= _LONGEST_TIME):
        return False
    sent = signature.encode("utf-8", "replace")
    keys = derived_keys.believed(_USE)
    is_ours = any(hmac.compare_digest(_signature(key, file_id, expires).encode(), sent) for key in keys)
    return is_ours and int(now.timestamp()) < int(expires)


def _signature(key: bytes, file_id: UUID, expires: str) -> str:
    return hmac.new(key, f"{file_id}.{expires}".encode(), "sha256").hexdigest()
