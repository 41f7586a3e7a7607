"""Clicks that the loop of a real web server answers itself, by raw sockets."""

import json
import re

import pytest

from adapters import broker, servers
from tests.support.installation.raw_web import every_thread_waits, read_until, running
from tests.support.rows.visiting import BROWSER, CLICK, new_slug, on_stream

_LIMIT = 30
_IN_ORDER = 12


@pytest.fixture(scope="module")
def web(tmp_path_factory):
    told = {"KEY_CACHE_S": "60", "TRUSTED_PROXIES": "1", "RATE_LIMITS_PER_MIN": f"anonymous_tracking={_LIMIT}"}
    with running(tmp_path_factory.mktemp("web"), **told) as (server, _):
        yield server


@pytest.fixture
def slug(brand, web):
    """A link that the server remembers, whose connection for clicks is open or about to be."""
    brand.program()
    slug = new_slug()
    brand.affiliate(slug)
    for _ in range(2):
        assert web.status(_click(slug, ip="198.51.100.1")) == 200
    return slug


def _click(slug, *, ip, query="", more="", version="1.1", **fields):
    body = json.dumps({"slug": slug, **fields}).encode()
    head = (
        f"POST {CLICK}{query} HTTP/{version}\r\nHost: shop.test\r\nUser-Agent: {BROWSER}\r\nX-Forwarded-For: {ip}\r\n"
        f"Origin: https://shop.test\r\n{more}Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def _told(web, sent):
    """Return head and body of an answer, without what is its own."""
    with web.socket(sent) as connected:
        head, _, rest = read_until(connected, b"}").partition(b"\r\n\r\n")
    lines = [line for line in head.decode().split("\r\n") if not line.startswith(("Date:", "X-Request-Id:"))]
    shown = json.loads(rest)
    return lines, {**shown, "clickId": bool(shown.get("clickId"))}


def test_it_answers_as_the_route_does(web, slug):
    ways = (
        {},
        {"more": "Connection: close\r\n"},
        {"version": "1.0"},
        {"more": "X-Request-Id: mine\r\n"},
        {"referrer": "https://news.test/ü", "visitorId": "v"},
    )

    for sent in ways:
        in_loop = _told(web, _click(slug, ip="198.51.100.2", **sent))
        by_route = _told(web, _click(slug, ip="198.51.100.2", query="?debug=0", **sent))
        assert in_loop == by_route, sent


def test_clicks_are_answered_while_every_thread_waits(brand, web, slug):
    """Each thread has a picture to show that notes its page, in a row that somebody holds."""
    with every_thread_waits(web, brand.programs[0]):
        assert web.status(_click(slug, ip="198.51.100.3")) == 200


def test_clicks_that_come_together_are_answered_one_after_the_other_and_sent_once(web, slug):
    before = len(on_stream())
    names = [f"n-{number}" for number in range(_IN_ORDER)]

    with web.socket(
        b"".join(_click(slug, ip="198.51.100.4", more=f"X-Request-Id: {name}\r\n") for name in names)
    ) as sock:
        read = b""
        while read.count(b'"clickId"') < _IN_ORDER:
            read += sock.recv(65536)

    assert re.findall(rb"X-Request-Id: (.*)\r\n", read) == [name.encode() for name in names]
    told = [found.decode() for found in re.findall(rb'"clickId":"([^"]*)"', read)]
    assert told == [click.id for click in on_stream()[before:]]


def test_what_is_out_of_the_ordinary_is_answered_by_the_route(web, slug):
    malformed = _click(7, ip="198.51.100.5")
    no_head = malformed.replace(b"Host: shop.test", b"Host : shop.test")
    nobodys = _click(new_slug(), ip="198.51.100.5")
    chunked = _click(slug, ip="198.51.100.5", more="Transfer-Encoding: chunked\r\n")

    assert [web.status(sent) for sent in (malformed, no_head, nobodys, chunked)] == [400, 400, 200, 400]


def test_who_is_over_the_limit_is_refused_by_the_route_and_counted_once(web, slug):
    sent = _click(slug, ip="198.51.100.6")

    statuses = [web.status(sent) for _ in range(_LIMIT + 2)]

    assert statuses == [200] * _LIMIT + [429] * 2
    client = broker.client(servers.urls().redis_url)
    assert [client.get(key) for key in client.scan_iter("LIMITS:*198.51.100.6*")] == [str(_LIMIT + 1).encode()]


def test_clicks_are_counted_and_logged_under_their_route(web, slug):
    line = f'finderfee_request_seconds_count{{route="{CLICK}",status="200"}} '.encode()

    def counted():
        return next(float(found.split()[-1]) for found in web.metrics().splitlines() if found.startswith(line))

    before = counted()
    for _ in range(3):
        web.status(_click(slug, ip="198.51.100.7"))

    assert counted() - before == 3
