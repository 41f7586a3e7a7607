"""Who visited, without who they are: keyed hashes stand in for addresses, which are never stored.

The key is made from SECRET_KEY: without it nobody can try all addresses until one fits.
Source: tracking spec, "Public click endpoint".
"""

import functools
import hashlib
import ipaddress

import settings

_BYTES = 16
_NETWORK_BITS = {4: 24, 6: 48}


def visitor(ip: str, agent: str) -> str:
    """Return what tells this browser at this address from others, as 32 hex digits."""
    return _hash("visitor", f"{ip}\n{agent}")


@functools.lru_cache(maxsize=4096)
def network(ip: str) -> str:
    """Return what is one for all addresses of an IPv4 /24 or an IPv6 /48, as 32 hex digits."""
    try:
        address = ipaddress.ip_address(ip)
    except ValueError:
        return _hash("network", ip)
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    host_bits = address.max_prefixlen - _NETWORK_BITS[address.version]
    return _hash("network", f"{address.version}/{int(address) >> host_bits}")


def forgotten(text: str) -> str:
    """Return what stands for an address of a machine or a person that is not kept any more: one for the same one."""
    return f"hash:{_hash('forgotten', text)}"


def _hash(kind: str, text: str) -> str:
    return hashlib.blake2b(f"{kind}\n{text}".encode("utf-8", "replace"), key=_key(), digest_size=_BYTES).hexdigest()


@functools.cache
def _key() -> bytes:
    return hashlib.sha256(b"finderfee/visitor/" + settings.secret_key(settings.current()).encode()).digest()
