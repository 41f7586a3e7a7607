"""The client's address behind trusted proxies, as limits, audit entries and fraud rules count it.

A proxy's `X-Forwarded-For` may contain a port, brackets, a zone or no address at all. All spellings of an address count
as that address; if the trusted entry is not an address, the nearest proxy with one counts in its place.
"""

import ipaddress
import re
from collections.abc import Callable, Iterable
from typing import Any

_BRACKETED = re.compile(r"\[([^\]]+)\](?::[0-9]{1,5})?")
_WITH_PORT = re.compile(r"([0-9.]+):[0-9]{1,5}")
_ORIGINAL = "werkzeug.proxy_fix.orig"


class ClientAddress:
    """WSGI middleware behind `ProxyFix`: normalizes the address that it took from `X-Forwarded-For`."""

    def __init__(self, app: Callable[..., Any], *, hops: int) -> None:
        self._app, self._hops = app, hops

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Any:
        """Call the application with the normalized address."""
        peer = environ.get(_ORIGINAL, {}).get("REMOTE_ADDR") or ""
        entries = environ.get("HTTP_X_FORWARDED_FOR", "").split(",")
        if len(entries) >= self._hops:
            environ["REMOTE_ADDR"] = first_address(entries[-self._hops :], peer=peer)
        return self._app(environ, start_response)


def first_address(entries: Iterable[str], *, peer: str) -> str:
    """Return the first entry that is an address, from the client towards this server, else the peer's address."""
    return next((address for address in map(normalize, entries) if address is not None), peer)


def normalize(entry: str) -> str | None:
    """Return the address of an entry without quotes, port, brackets and zone; None if it is not an address.

    An IPv4 address that is mapped into IPv6 is returned as the IPv4 address.
    """
    text = entry.strip().strip('"').strip()
    match = _BRACKETED.fullmatch(text) or _WITH_PORT.fullmatch(text)
    try:
        address = ipaddress.ip_address((match[1] if match else text).partition("%")[0])
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return str(mapped or address)
