"""Whether a request came to a name of ours, and from no page of a stranger's.

A page whose host name suddenly leads to this machine (DNS rebinding) names a host that is not ours.
Source: Model Context Protocol, "Streamable HTTP", Security.
"""

import functools
import ipaddress
from urllib.parse import urlsplit

from flask import request

import settings
from domain.refusals import Refused


def check() -> None:
    """Refuse a request with a foreign Host or Origin (403)."""
    origin = request.headers.get("Origin")
    if not _is_ours(f"//{request.host}") or (origin is not None and not _is_ours(origin)):
        raise Refused(403, "forbidden", "This address is asked by its own name, and by no page of another origin.")


def _is_ours(address: str) -> bool:
    chosen = settings.current()
    return _leads_to(address, chosen.web.url, is_embedded=chosen.servers.database_url is None)


@functools.lru_cache(maxsize=64)  # agents name one of a few hosts
def _leads_to(address: str, url: str, *, is_embedded: bool) -> bool:
    try:
        host = urlsplit(address).hostname or ""
    except ValueError:
        return False
    public = urlsplit(url).hostname or ""
    is_local = _is_loopback(public) or is_embedded
    return bool(host) and (host == public or (is_local and _is_loopback(host)))


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
