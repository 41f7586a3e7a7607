"""The client's address behind trusted proxies: every spelling maps to one address, a malformed entry to the proxy."""

import pytest
from werkzeug.test import Client
from werkzeug.wrappers import Request, Response

from api import web
from tests.support.rows.link_visits import create_limiter

_PEER = "192.0.2.1"


def _get_remote_address(forwarded, *, hops=1, peer=_PEER):
    @Request.application
    def show(request):
        return Response(request.remote_addr or "")

    headers = {} if forwarded is None else {"X-Forwarded-For": forwarded}
    client = Client(web.behind_proxies(show, hops))
    return client.get("/", headers=headers, environ_base={"REMOTE_ADDR": peer}).text


@pytest.mark.parametrize(
    ("forwarded", "address"),
    [
        ("203.0.113.7", "203.0.113.7"),
        (" 203.0.113.7 ", "203.0.113.7"),
        ("203.0.113.7:5678", "203.0.113.7"),
        ('"203.0.113.7:5678"', "203.0.113.7"),
        ("::ffff:203.0.113.7", "203.0.113.7"),
        ("[::ffff:203.0.113.7]:443", "203.0.113.7"),
        ("2001:db8::7", "2001:db8::7"),
        ("2001:DB8:0:0::7", "2001:db8::7"),
        ("[2001:db8::7]", "2001:db8::7"),
        ("[2001:db8::7]:443", "2001:db8::7"),
        ('"[2001:db8::7]:443"', "2001:db8::7"),
        ("fe80::7%eth0", "fe80::7"),
        ("[fe80::7%25eth0]:443", "fe80::7"),
        ("198.51.100.1, 203.0.113.7:5678", "203.0.113.7"),
    ],
)
def test_every_spelling_of_an_address_is_normalized(forwarded, address):
    assert _get_remote_address(forwarded) == address


@pytest.mark.parametrize(
    "forwarded", ["", ",", "unknown", "_hidden", "203.0.113", "203.0.113.7:x", "203.0.113.7:5678:9", "[::1", "a" * 5000]
)
def test_malformed_entry_counts_as_the_proxy(forwarded):
    assert _get_remote_address(forwarded) == _PEER


@pytest.mark.parametrize(
    ("forwarded", "address"),
    [
        ("198.51.100.1, 203.0.113.7:1, 10.0.0.2", "203.0.113.7"),
        ("198.51.100.1, unknown, 10.0.0.2:80", "10.0.0.2"),
        ("198.51.100.1, unknown, unknown", _PEER),
        ("10.0.0.2", _PEER),  # fewer entries than proxies: the entry may be forged
        (None, _PEER),
    ],
)
def test_malformed_entry_counts_as_the_nearest_proxy_with_an_address(forwarded, address):
    assert _get_remote_address(forwarded, hops=2) == address


@pytest.mark.parametrize(
    "spellings",
    [
        ["203.0.113.7:1", "203.0.113.7:2", "[::ffff:203.0.113.7]:3"],
        ["nonsense-1", "nonsense-2", "nonsense-3"],
        ["[2001:db8::1]:1", "2001:db8::2", '"[2001:db8::3]:443"'],
    ],
)
def test_ports_and_malformed_entries_share_the_limit_of_the_address(app, monkeypatch, spellings):
    monkeypatch.setitem(app.extensions, "limiter", create_limiter(tls_ask=2))
    client = Client(web.behind_proxies(app.wsgi_app, 1))

    statuses = [
        client.get("/api/tls/ask?domain=nobody.example", headers={"X-Forwarded-For": forwarded}).status_code
        for forwarded in spellings
    ]

    assert statuses == [404, 404, 429]
