"""Who is not known yet: what their requests are counted by, and when they are not looked for any more.

A key or an origin that nobody has costs a statement to find out, so these are counted per address. Once a minute's
worth of them is spent, the database is not asked for what this process does not know. What it finds is not counted:
a known caller costs nothing more, however many strangers share the address.
"""

import functools
import ipaddress

from flask import current_app, request

from api.access.limits import Limiter

_BUCKET = "unknown"
_HOST_BITS = 64


def network() -> str:
    """Return what a stranger's requests are counted by: their IPv4 address, or the network of their IPv6 address."""
    return network_of(request.remote_addr or "")


@functools.lru_cache(maxsize=4096)
def network_of(sent: str) -> str:
    """Return what requests from an address are counted by."""
    # An IPv6 address comes with the 2**64 of its network, so these count as one.
    try:
        address = ipaddress.ip_address(sent)
    except ValueError:
        return sent
    if isinstance(address, ipaddress.IPv4Address) or address.ipv4_mapped:
        return str(address)
    return str(ipaddress.IPv6Address(int(address) >> _HOST_BITS << _HOST_BITS))


def are_stopped() -> bool:
    """Say whether the sender's address asked for too much that is not there. No round trip."""
    return _limiter().is_full(_BUCKET, network())


def count() -> None:
    """Count something that the sender named and that is not there. Budget: 1 round trip, none to the database."""
    _limiter().allows(_BUCKET, network())


def _limiter() -> Limiter:
    limiter: Limiter = current_app.extensions["limiter"]
    return limiter
