"""The URLs and addresses that a customer may use: only the rules, no network."""

import pytest

from adapters.safe_http import addresses
from adapters.safe_http.addresses import UrlRefused

PORTS = frozenset({443, 8443})


@pytest.mark.parametrize(
    "address",
    [
        "0.0.0.0",
        "10.0.0.1",
        "100.64.0.1",
        "127.0.0.1",
        "169.254.169.254",
        "172.16.0.1",
        "192.0.0.8",
        "192.0.2.1",
        "192.88.99.1",
        "192.168.0.1",
        "198.18.0.1",
        "198.51.100.1",
        "203.0.113.1",
        "224.0.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::127.0.0.1",
        "::ffff:127.0.0.1",
        "::ffff:100.64.0.1",
        "::ffff:0:127.0.0.1",
        "64:ff9b::7f00:1",
        "64:ff9b:1::1",
        "100::1",
        "2001::7f00:1",
        "2001:db8::1",
        "2002:7f00:1::",
        "3fff::1",
        "5f00::1",
        "fc00::1",
        "fd00:ec2::254",
        "fe80::1",
        "fe80::1%eth0",
        "fec0::1",
        "ff02::1",
    ],
)
def test_non_public_address_is_not_public(address: str) -> None:
    assert not addresses.is_public(address)


@pytest.mark.parametrize("address", ["1.1.1.1", "93.184.216.34", "::ffff:8.8.8.8", "2606:4700::1111", "2a00:1450::1"])
def test_ordinary_address_is_public(address: str) -> None:
    assert addresses.is_public(address)


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("", "invalid_url"),
        ("hook.example.com/x", "invalid_url"),
        ("//hook.example.com/x", "invalid_url"),
        ("https:hook.example.com", "invalid_url"),
        ("https://", "invalid_url"),
        ("https:///x", "invalid_url"),
        ("https://hook.example.com/" + "a" * 2024, "invalid_url"),
        ("https://hook.example.com/a b", "invalid_url"),
        (" https://hook.example.com/", "invalid_url"),
        ("https://hook.example.com/\n", "invalid_url"),
        ("https://hook.example.com/\r\nHost: x", "invalid_url"),
        ("https://hook.example.com/\x00", "invalid_url"),
        ("https://hook.example.com\\@127.0.0.1/", "invalid_url"),
        ("https://h\N{LATIN SMALL LETTER O WITH DIAERESIS}ok.example.com/", "invalid_url"),
        ("https://127\N{IDEOGRAPHIC FULL STOP}0.0.1/", "invalid_url"),
        ("https://\N{FULLWIDTH DIGIT ONE}27.0.0.1/", "invalid_url"),
        ("https://127%2e0.0.1/", "invalid_url"),
        ("https://-hook.example.com/", "invalid_url"),
        ("https://hook..example.com/", "invalid_url"),
        ("https://localhost./", "invalid_url"),
        ("https://" + "a" * 64 + ".example.com/", "invalid_url"),
        ("https://" + "a." * 126 + "example/", "invalid_url"),
        ("https://hook.example.com[::1]/", "invalid_url"),
        ("https://[::1/", "invalid_url"),
        ("https://[hook.example.com]/", "invalid_url"),
        ("https://hook.example.com:0/", "invalid_url"),
        ("https://hook.example.com:65536/", "invalid_url"),
        ("https://hook.example.com:44 3/", "invalid_url"),
        ("https://hook.example.com:+443/", "invalid_url"),
        ("http://hook.example.com/", "https_required"),
        ("HTTP://hook.example.com/", "https_required"),
        ("ftp://hook.example.com/", "https_required"),
        ("file:///etc/passwd", "https_required"),
        ("https://user:pw@127.0.0.1/x", "url_not_allowed"),
        ("https://@hook.example.com/", "url_not_allowed"),
        ("https://hook.example.com@evil.example.com/", "url_not_allowed"),
        ("https://hook.example.com:22/", "url_not_allowed"),
        ("https://hook.example.com:80/", "url_not_allowed"),
        ("https://2130706433/", "url_not_allowed"),
        ("https://0x7f.1/", "url_not_allowed"),
        ("https://0X7F000001/", "url_not_allowed"),
        ("https://0177.0.0.1/", "url_not_allowed"),
        ("https://127.1/", "url_not_allowed"),
        ("https://0/", "url_not_allowed"),
        ("https://1.2.3.4.5/", "url_not_allowed"),
        ("https://256.0.0.1/", "url_not_allowed"),
        ("https://hook.example.0x/", "url_not_allowed"),
        ("https://[fe80::1%25eth0]/", "url_not_allowed"),
    ],
)
def test_forbidden_url_is_refused(url: str, code: str) -> None:
    with pytest.raises(UrlRefused) as error_info:
        addresses.parse_url(url, ports=PORTS)

    assert error_info.value.code == code


@pytest.mark.parametrize(
    ("url", "host", "port", "authority", "path"),
    [
        ("https://hook.example.com", "hook.example.com", 443, "hook.example.com", "/"),
        ("HTTPS://Hook.Example.COM/A?b=C", "hook.example.com", 443, "hook.example.com", "/A?b=C"),
        ("https://hook.example.com:/x", "hook.example.com", 443, "hook.example.com", "/x"),
        ("https://hook.example.com:8443/x#part", "hook.example.com", 8443, "hook.example.com:8443", "/x"),
        ("https://hook.example.com?a=/@b:1", "hook.example.com", 443, "hook.example.com", "/?a=/@b:1"),
        ("https://a_b.xn--hk-eka.example/%F0", "a_b.xn--hk-eka.example", 443, "a_b.xn--hk-eka.example", "/%F0"),
        ("https://1and1.example/", "1and1.example", 443, "1and1.example", "/"),
        ("https://8.8.8.8/", "8.8.8.8", 443, "8.8.8.8", "/"),
        ("https://[2606:4700:0::1111]:8443/", "2606:4700::1111", 8443, "[2606:4700::1111]:8443", "/"),
    ],
)
def test_allowed_url_is_parsed(url: str, host: str, port: int, authority: str, path: str) -> None:
    target = addresses.parse_url(url, ports=PORTS)

    assert target == addresses.VettedUrl(host=host, port=port, authority=authority, path=path)


def test_any_port_is_allowed_with_private_addresses() -> None:
    target = addresses.parse_url("https://localhost:5001/", ports=None)

    assert target.port == 5001
