"""Keyed hashes in place of addresses. Source: tracking spec, "Public click endpoint"."""

import re

import pytest

from adapters.clicks import visitors


def test_a_visitor_is_an_address_with_a_browser():
    known = visitors.hash_visitor("203.0.113.7", "Firefox")

    assert re.fullmatch(r"[0-9a-f]{32}", known)
    assert visitors.hash_visitor("203.0.113.7", "Firefox") == known
    assert visitors.hash_visitor("203.0.113.7", "Chrome") != known
    assert visitors.hash_visitor("203.0.113.8", "Firefox") != known
    assert visitors.hash_visitor("203.0.113.7", "Fire\nfox \udc00🙂") != known


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("203.0.113.7", "203.0.113.255", True),
        ("203.0.113.7", "203.0.114.7", False),
        ("203.0.113.7", "::ffff:203.0.113.9", True),
        ("2001:db8:1::1", "2001:db8:1:ffff::2", True),
        ("2001:db8:1::1", "2001:db8:2::1", False),
        ("0.0.1.0", "::1:0", False),
        ("", "no address", False),
    ],
)
def test_a_network_is_a_24_of_ipv4_or_a_48_of_ipv6(one, other, is_same):
    assert (visitors.hash_network(one) == visitors.hash_network(other)) is is_same
