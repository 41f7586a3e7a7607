"""Signed links to private files: anyone with a link may open the file until it expires, any number of times.

Source: core spec, "Affiliate" (tax form: presigned, valid 300 seconds, not single-use).
"""

import hmac
from datetime import datetime
from uuid import UUID

import settings
from adapters.secret_key import derived_keys

EXPIRES_IN_S = 300

_MAX_TIME_LENGTH = 12
_USE = "file"


def build_url(file_id: UUID, *, now: datetime) -> str:
    """Return the URL of a file, valid for EXPIRES_IN_S seconds."""
    expires = str(int(now.timestamp()) + EXPIRES_IN_S)
    signature = _signature(derived_keys.current_key(_USE), file_id, expires)
    return f"{settings.current().web.url}/api/files/{file_id}?expires={expires}&signature={signature}"


def is_valid(file_id: UUID, *, expires: str, signature: str, now: datetime) -> bool:
    """Return whether the signature is valid for this file and has not expired. Never raises."""
    if not (expires.isascii() and expires.isdigit() and len(expires) <= _MAX_TIME_LENGTH):
        return False
    received = signature.encode("utf-8", "replace")
    keys = derived_keys.accepted_keys(_USE)
    is_signed = any(hmac.compare_digest(_signature(key, file_id, expires).encode(), received) for key in keys)
    return is_signed and int(now.timestamp()) < int(expires)


def _signature(key: bytes, file_id: UUID, expires: str) -> str:
    return hmac.new(key, f"{file_id}.{expires}".encode(), "sha256").hexdigest()
