"""Country of an IP address, by a list of networks."""

import ipaddress
import random

import pytest

from domain.clicks import countries
from domain.clicks.countries import BadCountries

_LIST = """
# networks by country
192.0.2.0/24,DE
192.0.2.64/26,FR     # the narrowest network applies
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


def test_address_has_the_country_of_its_narrowest_network():
    country_list = countries.parse(_LIST.splitlines())
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

    assert {ip: country_list.country(ip) for ip in expected} == expected


def test_invalid_address_has_no_country():
    country_list = countries.parse(["0.0.0.0/0,DE", "::/0,DE"])
    invalid = [
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

    assert [ip for ip in invalid if country_list.country(ip) is not None] == []
    assert (country_list.country("255.255.255.255"), country_list.country("ffff::")) == ("DE", "DE")


@pytest.mark.parametrize("version", [4, 6])
def test_nested_random_networks_match_a_linear_search(version):
    rng, bits = random.Random(version), 32 if version == 4 else 128
    codes = {}
    for _ in range(300):
        prefix = rng.choice([bits - 12, bits - 10, bits - 8, bits - 4, bits - 1, bits])
        # Networks cluster in three places; one straddles the border between the halves of an IPv6 address.
        base = rng.choice([0, 1 << (bits // 2), (1 << bits) - 4096])
        first = (base + rng.randrange(4096)) >> (bits - prefix) << (bits - prefix)
        codes[first, prefix] = rng.choice(["DE", "FR", "US", "ZZ"])
    network_type = ipaddress.IPv4Network if version == 4 else ipaddress.IPv6Network
    networks = {network_type((first, prefix)): code for (first, prefix), code in codes.items()}
    lines = [f"{network},{code}" for network, code in networks.items()]
    rng.shuffle(lines)
    country_list = countries.parse(lines)

    for base in (0, 1 << (bits // 2), (1 << bits) - 4096):
        for number in range(base, base + 4096, 7):
            address = ipaddress.IPv4Address(number) if version == 4 else ipaddress.IPv6Address(number)
            containing = [network for network in networks if address in network]
            expected = networks[max(containing, key=lambda network: network.prefixlen)] if containing else "ZZ"
            assert (country_list.country(str(address)) or "ZZ") == expected, address


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
def test_invalid_line_is_refused_with_its_number(line, why):
    with pytest.raises(BadCountries) as refusal:
        countries.parse(
            ["# one", "10.0.0.0/8,DE", "", line, "nonsense"] if "FR" not in line else ["", "10.0.0.0/8,DE", "", line]
        )

    assert str(refusal.value).startswith(f"line 4 {why}")


def test_repeated_network_is_stored_once():
    country_list = countries.parse(["10.0.0.0/8,DE", "10.0.0.0/8,DE", "10.1.0.0/16,DE"])

    assert (country_list.country("10.1.2.3"), country_list.countries, country_list.spans) == ("DE", 1, {4: 2, 6: 0})


def test_empty_list_knows_no_country():
    for lines in ([], [""], ["# nothing", "   "]):
        country_list = countries.parse(lines)
        assert (
            country_list.country("192.0.2.1"),
            country_list.countries,
            country_list.spans,
            country_list.size_bytes,
        ) == (
            None,
            0,
            {4: 0, 6: 0},
            0,
        )


def test_60_000_networks_take_five_bytes_each():
    country_list = countries.parse(f"10.{n >> 8}.{n & 255}.0/24,{('DE', 'FR')[n % 2]}" for n in range(60_000))

    assert country_list.spans[4] == 60_001  # plus one that begins where the last network ends
    assert country_list.size_bytes <= 60_001 * 5
    assert (
        country_list.country("10.0.3.9"),
        country_list.country("10.234.95.255"),
        country_list.country("10.234.96.0"),
    ) == (
        "FR",
        "FR",
        None,
    )
