"""The picture of a buyer, derived from the email address, for a sale without a picture.

Source: tracking spec, "Server-to-server sale body", customerAvatarUrl.
"""

import hashlib

_DIRECTORY_URL = "https://www.gravatar.com/avatar"


def url_from_email(email: str | None) -> str | None:
    """Return the https URL of this email's picture in the public avatar directory; None without an email.

    The URL carries the SHA-256 of the trimmed, lower-case address, never the address. Nothing is fetched here.
    """
    if email is None:
        return None
    return f"{_DIRECTORY_URL}/{hashlib.sha256(email.strip().lower().encode()).hexdigest()}?d=identicon"
