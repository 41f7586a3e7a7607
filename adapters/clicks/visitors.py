"""Who visited, without who they are: keyed hashes stand in for addresses, which are never stored.

The key is made from SECRET_KEY: without it nobody can try all addresses until one fits. With a new one everybody is
somebody new: hashes are compared by the database, which knows one of each. Who was forgotten is found by former keys
too.
Source: tracking spec, "Public click endpoint".
"""

import functools
import hashlib
import ipaddress

from adapters import derived_keys

_BYTES = 16
_NETWORK_BITS = {4: 24, 6: 48}
_USE = "visitor"


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
    return _forgotten(text, derived_keys.current(_USE))


def ever_forgotten(text: str) -> list[str]:
    """Return everything that may stand for an address that is not kept any more: also what a former key made of it."""
    return [_forgotten(text, key) for key in derived_keys.believed(_USE)]


def _forgotten(text: str, key: bytes) -> str:
    return f"hash:{_hash('forgotten', text, key)}"


def _hash(kind: str, text: str, key: bytes | None = None) -> str:
    key = key or derived_keys.current(_USE)
    return hashlib.blake2b(f"{kind}\n{text}".encode("utf-8", "replace"), key=key, digest_size=_BYTES).hexdigest()
