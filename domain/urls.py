"""Valid URLs of web pages, and hosts that are this machine."""

import ipaddress
import re
from urllib.parse import urlsplit

# Browsers treat a backslash as a slash, and drop line breaks and tabs; other programs read both as part of the host.
_BACKSLASH, _USERINFO = "\\", "@"
# Letters of any script, since browsers translate names, but no punctuation that ends a host for some programs only. An
# IPv6 address is in brackets.
_HOST = re.compile(r"[\w.-]+|[0-9a-f:.]+")


def is_http(text: str) -> bool:
    """Return whether a text is an absolute http(s) URL that every program reads as the same host.

    It has no user name and no password, no backslash, no white space, and no control or invisible characters.
    """
    if not text.isprintable() or " " in text or _BACKSLASH in text:
        return False
    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", parts.port  # a malformed port raises ValueError
    except ValueError:
        return False
    return (
        parts.scheme in ("http", "https")
        and _USERINFO not in parts.netloc
        and _HOST.fullmatch(host) is not None
        and port != 0
    )


def is_loopback(host: str) -> bool:
    """Return whether a host is this machine itself."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
