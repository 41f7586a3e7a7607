"""Which country an address lies in, by a list of networks: arrays of numbers, looked through by halves.

A line is a network in CIDR form, a comma, and an ISO 3166 code of two letters; `#` starts a comment. Where networks lie
in one another the narrowest counts, in any order of lines. ZZ says that nothing is known of a network.
"""

import socket
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

_UNKNOWN = "ZZ"
# The codes that ISO assigned, and XK, by which everybody knows Kosovo. The first stands for what is not known.
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
    """A list that cannot be used; the message names the line (1 is the first) and what is wrong there."""

    def __init__(self, line: int, why: str) -> None:
        super().__init__(f"line {line} {why}")


@dataclass(frozen=True, slots=True)
class _Spans:
    """Where the spans of one country each begin, in order: the upper and the lower 64 bits of their first address.

    Addresses of IPv4 have no lower half. A span goes on until the next begins.
    """

    highs: "array[int]"
    lows: "array[int] | None"
    places: "array[int]"

    def place(self, number: int) -> int:
        """Return which of the codes an address has; 0 where none is known."""
        high = number if self.lows is None else number >> 64
        at = bisect_right(self.highs, high)
        if self.lows is not None and at and self.highs[at - 1] == high:
            at = bisect_right(self.lows, number & _LOW_64, bisect_left(self.highs, high, 0, at), at)
        return self.places[at - 1] if at else 0


@dataclass(frozen=True, slots=True)
class CountryMap:
    """The countries of networks. `spans` and `size_bytes` are what it holds, by which its operator judges it."""

    v4: _Spans
    v6: _Spans

    def country(self, ip: str) -> str | None:
        """Return the code of the country that an address lies in; None when that is not known, or it is no address."""
        number = _number(ip)
        if number is None:
            return None
        version, value = number
        place = (self.v4 if version == 4 else self.v6).place(value)
        return _CODES[place] if place else None

    @property
    def spans(self) -> dict[int, int]:
        """How many spans there are of each IP version."""
        return {4: len(self.v4.places), 6: len(self.v6.places)}

    @property
    def countries(self) -> int:
        """How many countries occur."""
        return len((set(self.v4.places) | set(self.v6.places)) - {0})

    @property
    def size_bytes(self) -> int:
        """How much memory the arrays take."""
        held = (self.v4.highs, self.v4.places, self.v6.highs, self.v6.lows, self.v6.places)
        return sum(len(one) * one.itemsize for one in held if one is not None)


def parse(lines: Iterable[str]) -> CountryMap:
    """Return the countries of a list. Raises BadCountries with the first line that is wrong.

    That is a line without a network or without a code that is assigned, and a network that has two countries.
    """
    found: dict[int, list[int]] = {4: [], 6: []}
    for line, written in enumerate(lines, start=1):
        said = written.partition("#")[0].replace('"', "").strip()
        if not said:
            continue
        network, _, code = said.partition(",")
        place = _PLACES.get(code.strip().upper())
        if place is None:
            raise BadCountries(
                line, f"is {said[:60]!r}, without an ISO 3166 code of two letters such as 192.0.2.0/24,DE"
            )
        version, first, prefix = _network(line, network.strip())
        found[version].append(_packed(first, prefix, place, line))
    return CountryMap(v4=_flat(found[4], bits=32), v6=_flat(found[6], bits=128))


def _number(ip: str) -> tuple[int, int] | None:
    """Return version and number of an address; None for what is none."""
    family = socket.AF_INET6 if ":" in ip else socket.AF_INET
    try:
        value = int.from_bytes(socket.inet_pton(family, ip), "big")
    except (OSError, ValueError):
        return None
    if family == socket.AF_INET6 and value >> 32 == _MAPPED:
        return 4, value & 0xFFFFFFFF
    return (6 if family == socket.AF_INET6 else 4), value


def _network(line: int, written: str) -> _Network:
    address, slash, bits = written.partition("/")
    number = _number(address)
    full = 128 if ":" in address else 32
    prefix = int(bits) if bits.isascii() and bits.isdigit() and len(bits) <= 3 else full if not slash else -1
    if number is None or not 0 <= prefix <= full:
        raise BadCountries(line, f"is {written[:60]!r}, no network such as 192.0.2.0/24 or 2001:db8::/32")
    version, first = number
    if version == 4 and full == 128:
        prefix -= 96
        if prefix < 0:
            raise BadCountries(line, f"is {written[:60]!r}, wider than the addresses of IPv4")
    if first & _host_mask(version, prefix):
        raise BadCountries(line, f"is {written[:60]!r}, an address inside of that network and not its first")
    return version, first, prefix


def _host_mask(version: int, prefix: int) -> int:
    return (1 << ((32 if version == 4 else 128) - prefix)) - 1


# A network is one number while it is sorted, the outer before those in it: a million of them then take tens of MB.
def _packed(first: int, prefix: int, place: int, line: int) -> int:
    return ((first << 8 | prefix) << 40 | line) << 8 | place


def _unpacked(packed: int) -> tuple[int, int, int, int]:
    network = packed >> 48
    return network >> 8, network & 0xFF, packed & 0xFF, packed >> 8 & ((1 << 40) - 1)


def _flat(found: list[int], *, bits: int) -> _Spans:
    """Return networks that lie in one another as spans beside one another. Raises BadCountries."""
    found.sort()
    built, open_ones = _Building(bits), [((1 << bits), 0)]  # where an open network ends, and its country
    before = (-1, -1, 0, 0)
    for packed in found:
        first, prefix, place, line = _unpacked(packed)
        if (first, prefix) == before[:2]:
            if place != before[2]:
                raise BadCountries(
                    line, f"has {_CODES[place]}, and line {before[3]} {_CODES[before[2]]} for its network"
                )
            continue
        before = (first, prefix, place, line)
        _close(open_ones, built, until=first)
        built.begin(first, place)
        open_ones.append((first + (1 << (bits - prefix)), place))
    _close(open_ones, built, until=1 << bits)
    return built.spans()


def _close(open_ones: list[tuple[int, int]], built: "_Building", *, until: int) -> None:
    while len(open_ones) > 1 and open_ones[-1][0] <= until:
        end, _ = open_ones.pop()
        built.begin(end, open_ones[-1][1])


class _Building:
    """Spans as they are made, from the lowest address on."""

    def __init__(self, bits: int) -> None:
        self._end = 1 << bits
        self._highs = array("I" if bits == 32 else "Q")
        self._lows = None if bits == 32 else array("Q")
        self._places = array("B")
        self._last = -1

    def begin(self, first: int, place: int) -> None:
        """Let an address and those after it have a country, in place of one that begins there too."""
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
        """Return what was made."""
        return _Spans(self._highs, self._lows, self._places)
