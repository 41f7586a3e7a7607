"""The fast path of a real web server, by raw sockets."""

import json
import re
import threading
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from adapters import broker, servers
from api.clicks.fast_path import MAX_REQUEST_BYTES
from api.server.connection import Connection
from api.server.fast_path import FastPath
from tests.support.installation.proxy import Action, Proxy
from tests.support.installation.raw_web import block_every_thread, read_response, read_until, run_server
from tests.support.rows.click_rows import consume_stream
from tests.support.rows.link_visits import BROWSER, CLICK, list_stream_clicks, new_slug

_LIMIT = 30
_PIPELINED = 12
_SETTINGS = {"KEY_CACHE_S": "60", "TRUSTED_PROXIES": "1", "RATE_LIMITS_PER_MIN": f"anonymous_tracking={_LIMIT}"}
_HEAD = f"POST {CLICK} HTTP/1.1\r\nHost: shop.test\r\n"


@pytest.fixture(scope="module")
def web(tmp_path_factory):
    with run_server(tmp_path_factory.mktemp("web"), **_SETTINGS) as (server, _):
        yield server


@pytest.fixture
def slug(brand, web):
    """The slug of a link that the server has cached; its fast path is connected or connecting."""
    return _cache_link(brand, web)


def _cache_link(brand, web):
    brand.program()
    slug = new_slug()
    brand.affiliate(slug)
    for _ in range(2):
        assert web.status(_build_click(slug, ip="198.51.100.1")) == 200
    return slug


def _build_click(slug, *, ip, query="", more="", version="1.1", **fields):
    body = json.dumps({"slug": slug, **fields}).encode()
    head = (
        f"POST {CLICK}{query} HTTP/{version}\r\nHost: shop.test\r\nUser-Agent: {BROWSER}\r\nX-Forwarded-For: {ip}\r\n"
        f"Origin: https://shop.test\r\n{more}Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def _normalize(web, request):
    """Return head and body of an answer, without date and ids."""
    with web.socket(request) as connected:
        head, _, rest = read_until(connected, b"}").partition(b"\r\n\r\n")
    lines = [line for line in head.decode().split("\r\n") if not line.startswith(("Date:", "X-Request-Id:"))]
    content = json.loads(rest)
    return lines, {**content, "clickId": bool(content.get("clickId"))}


def test_fast_path_and_route_give_the_same_answer(web, slug):
    requests = (
        {},
        {"more": "Connection: close\r\n"},
        {"version": "1.0"},
        {"more": "X-Request-Id: mine\r\n"},
        {"referrer": "https://news.test/ü", "visitorId": "v"},
    )

    for fields in requests:
        in_loop = _normalize(web, _build_click(slug, ip="198.51.100.2", **fields))
        by_route = _normalize(web, _build_click(slug, ip="198.51.100.2", query="?debug=0", **fields))
        assert in_loop == by_route, fields


def test_clicks_are_answered_while_every_thread_is_blocked(brand, web, slug):
    """Every thread is blocked by a request that waits for a locked row."""
    with block_every_thread(web, brand.programs[0]):
        assert web.status(_build_click(slug, ip="198.51.100.3")) == 200


def test_pipelined_clicks_are_answered_in_order_and_sent_once(web, slug):
    before = len(list_stream_clicks())
    names = [f"n-{number}" for number in range(_PIPELINED)]

    with web.socket(
        b"".join(_build_click(slug, ip="198.51.100.4", more=f"X-Request-Id: {name}\r\n") for name in names)
    ) as sock:
        read = b""
        while read.count(b'"clickId"') < _PIPELINED:
            read += sock.recv(65536)

    assert re.findall(rb"X-Request-Id: (.*)\r\n", read) == [name.encode() for name in names]
    answered = [click_id.decode() for click_id in re.findall(rb'"clickId":"([^"]*)"', read)]
    assert answered == [click.id for click in list_stream_clicks()[before:]]


def test_unusual_request_is_answered_by_the_route(web, slug):
    malformed = _build_click(7, ip="198.51.100.5")
    no_head = malformed.replace(b"Host: shop.test", b"Host : shop.test")
    unknown = _build_click(new_slug(), ip="198.51.100.5")
    chunked = _build_click(slug, ip="198.51.100.5", more="Transfer-Encoding: chunked\r\n")

    assert [web.status(request) for request in (malformed, no_head, unknown, chunked)] == [400, 400, 200, 400]


def test_request_over_the_limit_is_refused_by_the_route_and_counted_once(web, slug):
    request = _build_click(slug, ip="198.51.100.6")

    statuses = [web.status(request) for _ in range(_LIMIT + 2)]

    assert statuses == [200] * _LIMIT + [429] * 2
    client = broker.client(servers.urls().redis_url)
    assert [client.get(key) for key in client.scan_iter("LIMITS:*198.51.100.6*")] == [str(_LIMIT + 1).encode()]


def test_fast_answers_are_counted_under_their_route(web, slug):
    line = f'finderfee_request_seconds_count{{route="{CLICK}",status="200"}} '.encode()

    def count():
        return next(float(row.split()[-1]) for row in web.metrics().splitlines() if row.startswith(line))

    before = count()
    for _ in range(3):
        web.status(_build_click(slug, ip="198.51.100.7"))

    assert count() - before == 3


def test_click_with_a_lost_reply_is_answered_by_the_route_and_written_once(brand, tmp_path):
    # given: a fast path that is connected, through a proxy that cuts it before the reply to the next click
    url, is_armed, is_sent = servers.urls().redis_url, threading.Event(), threading.Event()

    def watch_call(data):
        if is_armed.is_set() and b'"slug"' in data:
            is_sent.set()
        return Action.FORWARD

    def cut_reply(_):
        return Action.DISCONNECT if is_sent.is_set() else Action.FORWARD

    with (
        closing(Proxy(Path(urlsplit(url).path), on_request=watch_call, on_reply=cut_reply)) as proxy,
        run_server(tmp_path, REDIS_URL=proxy.url(url), **_SETTINGS) as (web, _),
    ):
        slug = _cache_link(brand, web)
        with block_every_thread(web, brand.programs[0]):
            assert web.status(_build_click(slug, ip="198.51.100.8")) == 200
        before = len(list_stream_clicks())
        is_armed.set()

        # when
        with web.socket(_build_click(slug, ip="198.51.100.8")) as connected:
            status, content = read_response(connected)

    # then
    click_id = json.loads(content)["clickId"]
    count = f"select count(*) from click where id = '{click_id}'"
    assert (status, [click.id for click in list_stream_clicks()[before:]]) == (200, [click_id])
    assert brand.rows(count) == [(1,)]
    consume_stream()
    assert brand.rows(count) == [(1,)]


class _ParsingStarted(Exception):
    """Raised when the event loop starts to parse a request."""


class _Client(Connection):
    """A connection without a socket that records whether its request was parsed."""

    def __init__(self) -> None:
        self.is_parsed = False

    def parse(self):
        self.is_parsed = True
        raise _ParsingStarted

    def rewind(self):
        """Ignore the request to rewind."""


@pytest.mark.parametrize(
    ("more", "length", "is_chunked", "is_parsed"),
    [
        ("", 40, False, True),
        ("", MAX_REQUEST_BYTES, False, False),
        (f"X-Long: {'x' * MAX_REQUEST_BYTES}\r\n", 40, False, False),
        ("Transfer-Encoding: chunked\r\n", 40, True, False),
    ],
    ids=["usual", "large body", "large head", "chunked"],
)
def test_large_or_chunked_click_is_not_parsed_in_the_event_loop(app, more, length, is_chunked, is_parsed):
    fast_path = FastPath(None, app.extensions["fast_path"])
    fast_path._redis = object()  # connected; none of these requests uses it
    client = _Client()

    assert not fast_path.accept(client, f"{_HEAD}{more}\r\n".encode() + b"x" * length, b"", is_chunked=is_chunked)

    assert client.is_parsed == is_parsed
