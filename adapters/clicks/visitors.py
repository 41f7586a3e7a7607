"""Keyed hashes of visitors and networks, in place of addresses, which are never stored.

The key is derived from SECRET_KEY: without it, addresses cannot be found by hashing all of them. After SECRET_KEY
changes, every visitor counts as new, because hashes are compared; erased addresses are also found by former keys.
Source: tracking spec, "Public click endpoint".
"""

import functools
import hashlib
import ipaddress

from adapters.secret_key import derived_keys

_BYTES = 16
_NETWORK_BITS = {4: 24, 6: 48}
_USE = "visitor"


def hash_visitor(ip: str, agent: str) -> str:
    """Return the hash of a browser at an address, as 32 hex digits."""
    return _hash("visitor", f"{ip}\n{agent}")


@functools.lru_cache(maxsize=4096)
def hash_network(ip: str) -> str:
    """Return the hash of an address's network (IPv4 /24 or IPv6 /48), as 32 hex digits."""
    try:
        address = ipaddress.ip_address(ip)
    except ValueError:
        return _hash("network", ip)
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    host_bits = address.max_prefixlen - _NETWORK_BITS[address.version]
    return _hash("network", f"{address.version}/{int(address) >> host_bits}")


def hash_erased(text: str) -> str:
    """Return the hash that replaces an erased IP or email address, the same for the same address."""
    return _erased_hash(text, derived_keys.current_key(_USE))


def list_erased_hashes(text: str) -> list[str]:
    """Return all hashes that may replace an erased address: by the current key and by former keys."""
    return [_erased_hash(text, key) for key in derived_keys.accepted_keys(_USE)]


def _erased_hash(text: str, key: bytes) -> str:
    return f"hash:{_hash('forgotten', text, key)}"


def _hash(kind: str, text: str, key: bytes | None = None) -> str:
    key = key or derived_keys.current_key(_USE)
    return hashlib.blake2b(f"{kind}\n{text}".encode("utf-8", "replace"), key=key, digest_size=_BYTES).hexdigest()
