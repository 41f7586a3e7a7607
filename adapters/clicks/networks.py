"""The networks of data centres and anonymizers, from a file that the operator provides.

One network a line in CIDR form, `#` starts a comment. The file is read once per process.
"""

import functools
import ipaddress
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import settings

_Range = tuple[int, int]  # first and last address


@dataclass(frozen=True, slots=True)
class Networks:
    """Networks by IP version, as disjoint ranges: their first and last addresses."""

    firsts: dict[int, list[int]]
    lasts: dict[int, list[int]]

    def contains(self, ip: str) -> bool:
        """Return whether an address is in one of the networks; False for an invalid address."""
        if not any(self.firsts.values()):
            return False
        try:
            address = ipaddress.ip_address(ip)
        except ValueError:
            return False
        if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
            address = address.ipv4_mapped
        number = int(address)
        position = bisect_right(self.firsts[address.version], number) - 1
        return position >= 0 and number <= self.lasts[address.version][position]


def is_data_centre(ip: str) -> bool:
    """Return whether an address belongs to a data centre or an anonymizer by FRAUD_NETWORKS_FILE.

    False without a file and for an invalid address. Raises BadSetting on first use if the file is invalid.
    """
    return load_networks().contains(ip)


@functools.cache
def load_networks() -> Networks:
    """Return the networks of FRAUD_NETWORKS_FILE, none if it is not set. Raises BadSetting."""
    path = settings.current().fraud.networks_file
    if path is None:
        return parse_networks("")
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise settings.BadSetting(f"FRAUD_NETWORKS_FILE is {str(path)!r}, which cannot be read: {error}") from error
    return parse_networks(text, path=path)


def parse_networks(text: str, *, path: Path = Path("-")) -> Networks:
    """Return the networks of a text. Raises BadSetting with the first invalid line."""
    ranges: dict[int, list[_Range]] = {4: [], 6: []}
    for number, line in enumerate(text.splitlines(), start=1):
        network_text = line.partition("#")[0].strip()
        if not network_text:
            continue
        try:
            network = ipaddress.ip_network(network_text)
        except ValueError as error:
            raise settings.BadSetting(
                f"FRAUD_NETWORKS_FILE: line {number} of {path} is {network_text[:60]!r}, not a network such as "
                f"192.0.2.0/24 or 2001:db8::/32 ({error})"
            ) from None
        ranges[network.version].append((int(network.network_address), int(network.broadcast_address)))
    merged = {version: _merge(unsorted) for version, unsorted in ranges.items()}
    return Networks(
        firsts={version: [first for first, _ in spans] for version, spans in merged.items()},
        lasts={version: [last for _, last in spans] for version, spans in merged.items()},
    )


def _merge(ranges: Iterable[_Range]) -> list[_Range]:
    merged: list[_Range] = []
    for first, last in sorted(ranges):
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(merged[-1][1], last))
        else:
            merged.append((first, last))
    return merged
