"""The networks of data centres and anonymizers, from a file that the operator keeps.

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
    """Networks by IP version, as ranges that neither overlap nor touch: their first and their last addresses."""

    firsts: dict[int, list[int]]
    lasts: dict[int, list[int]]

    def holds(self, ip: str) -> bool:
        """Return whether an address lies in one of the networks; False when it is not an address."""
        if not any(self.firsts.values()):
            return False
        try:
            address = ipaddress.ip_address(ip)
        except ValueError:
            return False
        if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
            address = address.ipv4_mapped
        number = int(address)
        place = bisect_right(self.firsts[address.version], number) - 1
        return place >= 0 and number <= self.lasts[address.version][place]


def is_data_centre(ip: str) -> bool:
    """Return whether an address belongs to a data centre or an anonymizer as far as FRAUD_NETWORKS_FILE says.

    False without a file and when it is not an address. Raises BadSetting on first use when the file cannot be used.
    """
    return known().holds(ip)


@functools.cache
def known() -> Networks:
    """Return the networks of FRAUD_NETWORKS_FILE, none when it is not set. Raises BadSetting."""
    path = settings.current().fraud.networks_file
    if path is None:
        return parse("")
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise settings.BadSetting(f"FRAUD_NETWORKS_FILE is {str(path)!r}, which cannot be read: {error}") from error
    return parse(text, path=path)


def parse(text: str, *, path: Path = Path("-")) -> Networks:
    """Return the networks of a text. Raises BadSetting that names the first line without a network."""
    ranges: dict[int, list[_Range]] = {4: [], 6: []}
    for number, line in enumerate(text.splitlines(), start=1):
        written = line.partition("#")[0].strip()
        if not written:
            continue
        try:
            network = ipaddress.ip_network(written)
        except ValueError as error:
            raise settings.BadSetting(
                f"FRAUD_NETWORKS_FILE: line {number} of {path} is {written[:60]!r}, no network such as 192.0.2.0/24 "
                f"or 2001:db8::/32 ({error})"
            ) from None
        ranges[network.version].append((int(network.network_address), int(network.broadcast_address)))
    merged = {version: _merged(found) for version, found in ranges.items()}
    return Networks(
        firsts={version: [first for first, _ in found] for version, found in merged.items()},
        lasts={version: [last for _, last in found] for version, found in merged.items()},
    )


def _merged(ranges: Iterable[_Range]) -> list[_Range]:
    merged: list[_Range] = []
    for first, last in sorted(ranges):
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(merged[-1][1], last))
        else:
            merged.append((first, last))
    return merged
