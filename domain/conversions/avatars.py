"""Derives a buyer's picture from their email, for a sale that brings none of its own.

Source: tracking spec, "Server-to-server sale body", customerAvatarUrl.
"""

import hashlib

_PICTURES = "https://www.gravatar.com/avatar"


def of(email: str | None) -> str | None:
    """Return the https URL of the picture that the public avatar directory keeps for this email; None without one.

    The URL carries the SHA-256 of the trimmed, lower-case address, never the address. Nothing is fetched here.
    """
    if email is None:
        return None
    return f"{_PICTURES}/{hashlib.sha256(email.strip().lower().encode()).hexdigest()}?d=identicon"
