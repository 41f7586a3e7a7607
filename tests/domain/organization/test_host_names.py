"""Host names that a brand can point at the service."""

import pytest

from domain.organization import host_names


@pytest.mark.parametrize(
    "text",
    ["partners.example.com", "a.co", "xn--mnchen-3ya.de", "a.xn--p1ai", "1.2.3.4.example", f"{'a' * 63}.com", "x-y.z1"],
)
def test_valid_host_name_is_accepted(text):
    assert host_names.is_host_name(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "localhost",
        "https://example.com",
        "example.com/path",
        "example.com:443",
        "example.com.",
        ".example.com",
        "a..b",
        "-a.com",
        "a-.com",
        "a_b.com",
        "A.com",
        "a b.com",
        "münchen.de",
        "ab--c.com",
        "1.2.3.4",
        "[::1]",
        "::1",
        "0x7f.1",
        "127.0.0.0x1f",
        "a.com\n",
        "*.example.com",
        f"{'a' * 64}.com",
        ".".join(["a" * 60] * 5),
    ],
)
def test_invalid_host_name_is_refused(text):
    assert not host_names.is_host_name(text)


@pytest.mark.parametrize(
    ("host", "is_within"),
    [("a.test", True), ("b.a.test", True), ("c.b.a.test", True), ("ba.test", False), ("a.test.b", False)],
)
def test_domain_contains_itself_and_its_subdomains(host, is_within):
    assert host_names.is_within(host, "a.test") is is_within
