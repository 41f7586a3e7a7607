"""Which texts are addresses of pages."""

import re
from urllib.parse import urlsplit

_NOT_IN_A_URL = re.compile(r"[\s\x00-\x1f\x7f]")


def is_http(text: str) -> bool:
    """Say whether a text is an absolute http(s) URL."""
    try:
        parts = urlsplit(text)
        is_url = parts.scheme in ("http", "https") and bool(parts.hostname) and not _NOT_IN_A_URL.search(text)
        return is_url and parts.port != 0  # a malformed port raises ValueError
    except ValueError:
        return False
