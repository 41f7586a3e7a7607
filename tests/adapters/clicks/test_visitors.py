"""Keyed hashes that replace visitors' addresses. Source: tracking spec, "Public click endpoint"."""

import re

import pytest

from adapters.clicks import visitors


def test_visitor_hash_depends_on_address_and_browser():
    digest = visitors.hash_visitor("203.0.113.7", "Firefox")

    assert re.fullmatch(r"[0-9a-f]{32}", digest)
    assert visitors.hash_visitor("203.0.113.7", "Firefox") == digest
    assert visitors.hash_visitor("203.0.113.7", "Chrome") != digest
    assert visitors.hash_visitor("203.0.113.8", "Firefox") != digest
    assert visitors.hash_visitor("203.0.113.7", "Fire\nfox \udc00🙂") != digest


@pytest.mark.parametrize(
    ("ip", "other", "is_same"),
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
def test_network_is_ipv4_24_or_ipv6_48(ip, other, is_same):
    assert (visitors.hash_network(ip) == visitors.hash_network(other)) is is_same
