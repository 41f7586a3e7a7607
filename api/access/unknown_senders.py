"""Senders of unknown keys, tokens and origins: they are counted per address and blocked when they send too many.

Every unknown value costs a statement. When an address has used up its limit of a minute, the database is no longer
queried for values that this process has not cached. Known callers are not counted, so they are unaffected by others at
the same address.
"""

import functools
import ipaddress

from flask import current_app, request

from api.access.limits import Limiter

_BUCKET = "unknown"
_HOST_BITS = 64


def sender_network() -> str:
    """Return the key of the sender's limit: their IPv4 address, or the network of their IPv6 address."""
    return network_from_address(request.remote_addr or "")


@functools.lru_cache(maxsize=4096)
def network_from_address(ip: str) -> str:
    """Return the key of the limit of an address."""
    # A sender has all 2**64 addresses of an IPv6 network, so they count as one.
    try:
        address = ipaddress.ip_address(ip)
    except ValueError:
        return ip
    if isinstance(address, ipaddress.IPv4Address) or address.ipv4_mapped:
        return str(address)
    return str(ipaddress.IPv6Address(int(address) >> _HOST_BITS << _HOST_BITS))


def is_blocked() -> bool:
    """Return whether the sender's address has sent too many unknown values. No round trip."""
    return _limiter().is_full(_BUCKET, sender_network())


def count_unknown() -> None:
    """Count an unknown value of the sender. Budget: 1 round trip, none to the database."""
    _limiter().allows(_BUCKET, sender_network())


def _limiter() -> Limiter:
    limiter: Limiter = current_app.extensions["limiter"]
    return limiter
