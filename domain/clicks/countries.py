"""The country of an IP address, by binary search in arrays that are built from a list of networks.

A line is a network in CIDR form, a comma, and an ISO 3166 code of two letters; `#` starts a comment. Of nested networks
the narrowest counts, whatever the order of the lines. ZZ marks a network of unknown country.
"""

import socket
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

_UNKNOWN = "ZZ"
# The codes that ISO assigned, and XK, in common use for Kosovo. The first means unknown.
_CODES = f"""{_UNKNOWN}
AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ CA CC CD
CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE GF
GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN
KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA
NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI
SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI
VN VU WF WS XK YE YT ZA ZM ZW""".split()
_PLACES = {code: place for place, code in enumerate(_CODES)}
_LOW_64 = (1 << 64) - 1
# The addresses of IPv4 as IPv6 writes them: ::ffff:0:0/96.
_MAPPED = 0xFFFF

_Network = tuple[int, int, int]  # IP version, first address, bits of the prefix


class BadCountries(ValueError):
    """The list is invalid; the message names the line (1 is the first) and its fault."""

    def __init__(self, line: int, why: str) -> None:
        super().__init__(f"line {line} {why}")


@dataclass(frozen=True, slots=True)
class _Spans:
    """Sorted spans of addresses, each of one country, by the upper and the lower 64 bits of their first address.

    IPv4 addresses have no lower half. A span extends to the start of the next.
    """

    highs: "array[int]"
    lows: "array[int] | None"
    places: "array[int]"

    def place(self, number: int) -> int:
        """Return the index in _CODES of an address's country; 0 where it is unknown."""
        high = number if self.lows is None else number >> 64
        at = bisect_right(self.highs, high)
        if self.lows is not None and at and self.highs[at - 1] == high:
            at = bisect_right(self.lows, number & _LOW_64, bisect_left(self.highs, high, 0, at), at)
        return self.places[at - 1] if at else 0


@dataclass(frozen=True, slots=True)
class CountryMap:
    """The countries of networks. `spans` and `size_bytes` describe the loaded list to the operator."""

    v4: _Spans
    v6: _Spans

    def country(self, ip: str) -> str | None:
        """Return the country code of an address; None if it is unknown or the address is invalid."""
        number = _number(ip)
        if number is None:
            return None
        version, value = number
        place = (self.v4 if version == 4 else self.v6).place(value)
        return _CODES[place] if place else None

    @property
    def spans(self) -> dict[int, int]:
        """The number of spans of each IP version."""
        return {4: len(self.v4.places), 6: len(self.v6.places)}

    @property
    def countries(self) -> int:
        """The number of countries in the list."""
        return len((set(self.v4.places) | set(self.v6.places)) - {0})

    @property
    def size_bytes(self) -> int:
        """The memory that the arrays take."""
        arrays = (self.v4.highs, self.v4.places, self.v6.highs, self.v6.lows, self.v6.places)
        return sum(len(numbers) * numbers.itemsize for numbers in arrays if numbers is not None)


def parse(lines: Iterable[str]) -> CountryMap:
    """Return the countries of a list. Raises BadCountries for the first invalid line.

    Invalid is a line without a network or without an assigned code, and a network that has two countries.
    """
    networks: dict[int, list[int]] = {4: [], 6: []}
    for line, raw in enumerate(lines, start=1):
        text = raw.partition("#")[0].replace('"', "").strip()
        if not text:
            continue
        network, _, code = text.partition(",")
        place = _PLACES.get(code.strip().upper())
        if place is None:
            raise BadCountries(
                line, f"is {text[:60]!r}, without an ISO 3166 code of two letters such as 192.0.2.0/24,DE"
            )
        version, first, prefix = _parse_network(line, network.strip())
        networks[version].append(_pack(first, prefix, place, line))
    return CountryMap(v4=_flatten(networks[4], bits=32), v6=_flatten(networks[6], bits=128))


def _number(ip: str) -> tuple[int, int] | None:
    """Return version and number of an address; None for an invalid one."""
    family = socket.AF_INET6 if ":" in ip else socket.AF_INET
    try:
        value = int.from_bytes(socket.inet_pton(family, ip), "big")
    except (OSError, ValueError):
        return None
    if family == socket.AF_INET6 and value >> 32 == _MAPPED:
        return 4, value & 0xFFFFFFFF
    return (6 if family == socket.AF_INET6 else 4), value


def _parse_network(line: int, text: str) -> _Network:
    address, slash, bits = text.partition("/")
    number = _number(address)
    full = 128 if ":" in address else 32
    prefix = int(bits) if bits.isascii() and bits.isdigit() and len(bits) <= 3 else full if not slash else -1
    if number is None or not 0 <= prefix <= full:
        raise BadCountries(line, f"is {text[:60]!r}, not a network such as 192.0.2.0/24 or 2001:db8::/32")
    version, first = number
    if version == 4 and full == 128:
        prefix -= 96
        if prefix < 0:
            raise BadCountries(line, f"is {text[:60]!r}, wider than all IPv4 addresses")
    if first & _host_mask(version, prefix):
        raise BadCountries(line, f"is {text[:60]!r}, an address inside that network and not its first")
    return version, first, prefix


def _host_mask(version: int, prefix: int) -> int:
    return (1 << ((32 if version == 4 else 128) - prefix)) - 1


# For sorting, a network is packed into one number that sorts after its outer networks: a million take tens of MB.
def _pack(first: int, prefix: int, place: int, line: int) -> int:
    return ((first << 8 | prefix) << 40 | line) << 8 | place


def _unpack(packed: int) -> tuple[int, int, int, int]:
    network = packed >> 48
    return network >> 8, network & 0xFF, packed & 0xFF, packed >> 8 & ((1 << 40) - 1)


def _flatten(networks: list[int], *, bits: int) -> _Spans:
    """Return nested networks as adjacent spans. Raises BadCountries."""
    networks.sort()
    builder, open_networks = _SpanBuilder(bits), [((1 << bits), 0)]  # the end of an open network, and its country
    previous = (-1, -1, 0, 0)
    for packed in networks:
        first, prefix, place, line = _unpack(packed)
        if (first, prefix) == previous[:2]:
            if place != previous[2]:
                raise BadCountries(
                    line, f"has {_CODES[place]}, and line {previous[3]} {_CODES[previous[2]]} for its network"
                )
            continue
        previous = (first, prefix, place, line)
        _close(open_networks, builder, until=first)
        builder.begin(first, place)
        open_networks.append((first + (1 << (bits - prefix)), place))
    _close(open_networks, builder, until=1 << bits)
    return builder.spans()


def _close(open_networks: list[tuple[int, int]], builder: "_SpanBuilder", *, until: int) -> None:
    while len(open_networks) > 1 and open_networks[-1][0] <= until:
        end, _ = open_networks.pop()
        builder.begin(end, open_networks[-1][1])


class _SpanBuilder:
    """Collects spans from the lowest address upwards."""

    def __init__(self, bits: int) -> None:
        self._end = 1 << bits
        self._highs = array("I" if bits == 32 else "Q")
        self._lows = None if bits == 32 else array("Q")
        self._places = array("B")
        self._last = -1

    def begin(self, first: int, place: int) -> None:
        """Start a span at an address; it replaces one that starts at the same address."""
        if first == self._end:
            return
        if first == self._last:
            self._places[-1] = place
            return
        if place == (self._places[-1] if self._places else 0):
            return
        self._highs.append(first if self._lows is None else first >> 64)
        if self._lows is not None:
            self._lows.append(first & _LOW_64)
        self._places.append(place)
        self._last = first

    def spans(self) -> _Spans:
        """Return the collected spans."""
        return _Spans(self._highs, self._lows, self._places)
