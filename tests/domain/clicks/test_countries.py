"""Which country an address lies in, by a list of networks."""

import ipaddress
import random

import pytest

from domain.clicks import countries
from domain.clicks.countries import BadCountries

_LIST = """
# who lies where
192.0.2.0/24,DE
192.0.2.64/26,FR     # the narrowest counts
192.0.2.70, at
"198.51.100.0/24","US"
198.51.100.128/25,ZZ
2001:db8::/32,SE
2001:db8:1::/48,NO
2001:db8:1::5/128,DK
::ffff:203.0.113.0/120,JP
255.255.255.0/24,NZ
ffff::/16,AU
10.0.0.0/8,XK
"""


def test_an_address_has_the_country_of_the_narrowest_network_that_holds_it():
    found = countries.parse(_LIST.splitlines())
    expected = {
        "192.0.1.255": None,
        "192.0.2.0": "DE",
        "192.0.2.63": "DE",
        "192.0.2.64": "FR",
        "192.0.2.69": "FR",
        "192.0.2.70": "AT",
        "192.0.2.71": "FR",
        "192.0.2.127": "FR",
        "192.0.2.128": "DE",
        "192.0.3.0": None,
        "198.51.100.1": "US",
        "198.51.100.200": None,
        "203.0.113.9": "JP",
        "::ffff:203.0.113.9": "JP",
        "::ffff:192.0.2.64": "FR",
        "::192.0.2.64": None,
        "255.255.255.255": "NZ",
        "0.0.0.0": None,
        "10.1.2.3": "XK",
        "127.0.0.1": None,
        "::1": None,
        "2001:db7:ffff:ffff:ffff:ffff:ffff:ffff": None,
        "2001:db8::": "SE",
        "2001:db8:1::4": "NO",
        "2001:db8:1::5": "DK",
        "2001:db8:1::6": "NO",
        "2001:db8:2::": "SE",
        "2001:db9::": None,
        "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff": "AU",
    }

    assert {ip: found.country(ip) for ip in expected} == expected


def test_what_is_no_address_has_no_country():
    found = countries.parse(["0.0.0.0/0,DE", "::/0,DE"])
    wrong = [
        "",
        "unknown",
        "1.2.3",
        "1.2.3.4.",
        "1.2.3.4:80",
        "1234",
        "1.2.3.4\0",
        "☃",
        "9" * 10_000,
        "fe80::1%eth0",
        ":",
    ]

    assert [ip for ip in wrong if found.country(ip) is not None] == []
    assert (found.country("255.255.255.255"), found.country("ffff::")) == ("DE", "DE")


@pytest.mark.parametrize("version", [4, 6])
def test_random_networks_in_one_another_are_found_as_one_by_one(version):
    chosen, bits = random.Random(version), 32 if version == 4 else 128
    made = {}
    for _ in range(300):
        prefix = chosen.choice([bits - 12, bits - 10, bits - 8, bits - 4, bits - 1, bits])
        # Narrow ones crowd in a few places, some of them over the border between the halves of IPv6.
        base = chosen.choice([0, 1 << (bits // 2), (1 << bits) - 4096])
        first = (base + chosen.randrange(4096)) >> (bits - prefix) << (bits - prefix)
        made[first, prefix] = chosen.choice(["DE", "FR", "US", "ZZ"])
    kind = ipaddress.IPv4Network if version == 4 else ipaddress.IPv6Network
    networks = {kind((first, prefix)): code for (first, prefix), code in made.items()}
    lines = [f"{network},{code}" for network, code in networks.items()]
    chosen.shuffle(lines)
    found = countries.parse(lines)

    for base in (0, 1 << (bits // 2), (1 << bits) - 4096):
        for number in range(base, base + 4096, 7):
            address = ipaddress.IPv4Address(number) if version == 4 else ipaddress.IPv6Address(number)
            holding = [network for network in networks if address in network]
            expected = networks[max(holding, key=lambda network: network.prefixlen)] if holding else "ZZ"
            assert (found.country(str(address)) or "ZZ") == expected, address


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("192.0.2.1/24,DE", "is '192.0.2.1/24', an address inside that network and not its first"),
        ("2001:db8::1/32,DE", "is '2001:db8::1/32', an address inside that network and not its first"),
        ("192.0.2.0/33,DE", "is '192.0.2.0/33', not a network such as"),
        ("192.0.2.0/-1,DE", "is '192.0.2.0/-1', not a network such as"),
        ("192.0.2.0/,DE", "is '192.0.2.0/', not a network such as"),
        ("192.0.2.0/٤,DE", "is '192.0.2.0/٤', not a network such as"),
        ("192.0.2,DE", "is '192.0.2', not a network such as"),
        ("example.com,DE", "is 'example.com', not a network such as"),
        ("10.0.0.0-10.0.0.9,DE", "is '10.0.0.0-10.0.0.9', not a network such as"),
        (",DE", "is '', not a network such as"),
        ("::ffff:0.0.0.0/90,DE", "is '::ffff:0.0.0.0/90', wider than all IPv4 addresses"),
        ("192.0.2.0/24", "is '192.0.2.0/24', without an ISO 3166 code of two letters"),
        ("192.0.2.0/24,", "is '192.0.2.0/24,', without an ISO 3166 code"),
        ("192.0.2.0/24,UK", "is '192.0.2.0/24,UK', without an ISO 3166 code"),
        ("192.0.2.0/24,EU", "is '192.0.2.0/24,EU', without an ISO 3166 code"),
        ("192.0.2.0/24,DEU", "is '192.0.2.0/24,DEU', without an ISO 3166 code"),
        ("192.0.2.0/24,DE,more", "is '192.0.2.0/24,DE,more', without an ISO 3166 code"),
        ("10.0.0.0/8,FR", "has FR, and line 2 DE for its network"),
        ("nonsense" * 100, f"is {('nonsense' * 100)[:60]!r}, without"),
    ],
)
def test_a_line_that_cannot_be_used_is_named_with_its_number(line, why):
    with pytest.raises(BadCountries) as refused:
        countries.parse(
            ["# one", "10.0.0.0/8,DE", "", line, "nonsense"] if "FR" not in line else ["", "10.0.0.0/8,DE", "", line]
        )

    assert str(refused.value).startswith(f"line 4 {why}")


def test_a_network_twice_with_one_country_is_there_once():
    found = countries.parse(["10.0.0.0/8,DE", "10.0.0.0/8,DE", "10.1.0.0/16,DE"])

    assert (found.country("10.1.2.3"), found.countries, found.spans) == ("DE", 1, {4: 2, 6: 0})


def test_nothing_is_known_of_nothing():
    for empty in ([], [""], ["# nothing", "   "]):
        found = countries.parse(empty)
        assert (found.country("192.0.2.1"), found.countries, found.spans, found.size_bytes) == (
            None,
            0,
            {4: 0, 6: 0},
            0,
        )


def test_many_networks_take_little_memory():
    found = countries.parse(f"10.{n >> 8}.{n & 255}.0/24,{('DE', 'FR')[n % 2]}" for n in range(60_000))

    assert found.spans[4] == 60_001  # and one that begins where the last ends
    assert found.size_bytes <= 60_001 * 5
    assert (found.country("10.0.3.9"), found.country("10.234.95.255"), found.country("10.234.96.0")) == (
        "FR",
        "FR",
        None,
    )
