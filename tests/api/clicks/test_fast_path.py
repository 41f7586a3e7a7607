"""Clicks that the event loop answers, compared with the route. Source: tracking spec, "Public click endpoint"."""

from types import SimpleNamespace

import pytest
from flask import Response
from redis.exceptions import ConnectionError as Disconnected
from werkzeug.test import EnvironBuilder

from adapters import broker, servers
from adapters.thread_redis import Script, ThreadRedis
from tests.support.rows.click_rows import consume_stream
from tests.support.rows.link_visits import (
    BROWSER,
    CLICK,
    create_limiter,
    list_stream_clicks,
    new_slug,
    post_click,
    read_counter,
    visit,
)
from tests.support.settings_overrides import override_settings

_OWN = ("X-Request-Id", "clickId")
_READ = Script("return redis.call('get', KEYS[1])")
_IP = "203.0.113.7"


@pytest.fixture
def slug(app, brand, monkeypatch):
    """Return a slug that can earn and is cached in this process."""
    override_settings(monkeypatch, web={"key_cache_s": 3600})
    brand.program(cookie_window_days=45)
    slug = new_slug()
    brand.affiliate(slug)
    post_click(app, slug)
    return slug


def _parse(app, *, headers=None, ip=_IP, query="", **content):
    """Return the event loop's parsed request; None if the route has to handle it."""
    all_headers = {"User-Agent": BROWSER, "Accept-Language": "de-CH, en;q=0.8"} | (headers or {})
    builder = EnvironBuilder(CLICK, method="POST", query_string=query, headers=all_headers, **content)
    return app.extensions["fast_path"].parse(builder.get_environ() | {"REMOTE_ADDR": ip}, None)


def _call(request):
    """Make a request's Redis call on this test's own connection."""
    call = request.call()
    return ThreadRedis(servers.urls().redis_url).run(call.script, len(call.keys), *call.keys, *call.values)


def _answer(app, slug, *, headers=None, ip=_IP, **fields):
    """Return the event loop's response to a click; None if the route has to answer."""
    request = _parse(app, headers=headers, ip=ip, json={"slug": slug} | fields)
    assert request is not None
    response = request.response(_call(request))
    return None if response is None else Response(response[2], status=response[0], headers=response[1])


def _normalize(answer):
    headers = [(name, value) for name, value in answer.headers if name not in _OWN]
    content = answer.json
    assert ("clickId" in content) == (len(content) > 1)
    common = {name: content[name] for name in content if name not in _OWN}
    return answer.status_code, headers, list(content), common


_REQUESTS = [
    {},
    {"headers": {"Origin": "https://shop.test"}},
    {"headers": {"Origin": "null", "X-Request-Id": "mine"}},
    {"headers": {"X-Request-Id": "x" * 65}},
    {"headers": {"User-Agent": "Googlebot"}},
    {"headers": {"Sec-Purpose": "prefetch"}},
    {"headers": {"Accept-Language": "de-CH,de;q=0.9", "Idempotency-Key": "one"}},
    {"headers": {"Host": "shop.example.com:8443"}},
    {"url": "https://shop.test/?via=x&ü=1", "referrer": "https://news.test/", "subId": "Mail 1", "visitorId": "v"},
    {"url": "https://[::1/?q=1", "referrer": "http://[bad"},
    {"url": "https://shop.test/%zz?%ff=%00&%E2%80%8B=1"},
    {"url": None, "referrer": None, "subId": None, "visitorId": None, "programId": None, "more": {"a": [1]}},
    {"url": "x" * 8192},
    {"ip": "2001:db8::1"},
]


@pytest.mark.parametrize("fields", _REQUESTS, ids=str)
def test_event_loop_and_route_return_the_same_response_and_click(app, slug, fields):
    in_loop = _answer(app, slug, **fields)
    by_route = post_click(app, slug, **fields)

    assert _normalize(in_loop) == _normalize(by_route)
    appended = [entry._replace(id="", occurred_at="") for entry in list_stream_clicks()[1:]]
    assert appended[:1] == appended[1:]
    request_id = fields.get("headers", {}).get("X-Request-Id", "")
    assert (in_loop.headers["X-Request-Id"] == request_id) == (by_route.headers["X-Request-Id"] == request_id)


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"[]",
        b"{",
        b"\xff",
        b'{"slug":"a","slug":"b"}',
        b'{"slug":7}',
        b'{"slug":"a\\u0000"}',
        b'{"slug":"nobody"}',
    ],
)
def test_malformed_body_or_unknown_link_belongs_to_the_route(app, slug, raw):
    assert _parse(app, data=raw) is None


@pytest.mark.parametrize("host", ["", "a b", "shop.test:x", "shop.test/", "[::1]", "shop..test"])
def test_unusual_host_belongs_to_the_route(app, slug, host):
    assert _parse(app, headers={"Host": host}, json={"slug": slug}) is None


@pytest.mark.parametrize("query", ["debug=1", "de%62ug=1"])
def test_debug_query_belongs_to_the_route(app, slug, brand, query):
    assert _parse(app, query=query, json={"slug": slug}) is None

    headers = {"Authorization": f"Bearer {brand.api_key}", "User-Agent": BROWSER}
    answer = visit(app, f"{CLICK}?{query}", method="POST", json={"slug": slug}, headers=headers)
    assert answer.json["debug"]["recorded"] is True


def test_request_over_the_limit_belongs_to_the_route_and_is_counted_once(app, slug, monkeypatch):
    limiter = create_limiter(anonymous_tracking=3)
    monkeypatch.setitem(app.extensions, "limiter", limiter)

    answers = [_answer(app, slug) for _ in range(4)]

    assert [answer is not None for answer in answers] == [True, True, True, False]
    assert _parse(app, json={"slug": slug}) is None
    assert post_click(app, slug).status_code == 429
    (window,) = limiter.windows("anonymous_tracking", _IP)
    assert limiter._redis.run(_READ, 1, window.key) == b"4"


def test_request_belongs_to_the_route_while_redis_is_down(app, slug, monkeypatch):
    limiter = create_limiter()
    monkeypatch.setitem(app.extensions, "limiter", limiter)
    limiter.fail_open(Disconnected("gone"))

    assert _parse(app, json={"slug": slug}) is None


def _finish_by_route(app, slug, request):
    """Answer a click by the route after the event loop got no reply from Redis."""
    handover = request.hand_over(Disconnected("no reply in time"))
    overrides = {"REMOTE_ADDR": _IP, "gunicorn.socket": SimpleNamespace(handover=handover)}
    return app.test_client().post(CLICK, json={"slug": slug}, environ_overrides=overrides)


@pytest.mark.parametrize("has_arrived", [True, False])
def test_unconfirmed_click_is_written_once_under_its_id(app, brand, slug, monkeypatch, has_arrived):
    consume_stream()
    monkeypatch.setitem(app.extensions, "limiter", create_limiter())
    request = _parse(app, json={"slug": slug})
    if has_arrived:
        _call(request)
    before = read_counter("finderfee_clicks_direct_total")

    answer = _finish_by_route(app, slug, request)

    written = "select id::text from click order by created_at desc, id desc"
    newest = brand.rows(written)[0]
    consume_stream()
    assert newest == (answer.json["clickId"],)
    assert len(brand.rows(written)) == 2
    assert read_counter("finderfee_clicks_direct_total") - before == 1
    assert app.extensions["limiter"].is_paused()


def test_unconfirmed_click_is_accepted_from_a_sender_now_over_the_limit(app, brand, slug, monkeypatch):
    monkeypatch.setitem(app.extensions, "limiter", create_limiter(anonymous_tracking=1))
    broker.client(servers.urls().redis_url).flushdb()
    request = _parse(app, json={"slug": slug})
    statuses = [post_click(app, slug).status_code for _ in range(2)]

    answer = _finish_by_route(app, slug, request)

    assert (statuses, answer.status_code) == ([200, 429], 200)
    assert brand.rows("select id::text from click") == [(answer.json["clickId"],)]


def test_unconfirmed_robot_is_answered_without_a_click(app, brand, slug, monkeypatch):
    monkeypatch.setitem(app.extensions, "limiter", create_limiter())
    request = _parse(app, headers={"User-Agent": "Googlebot"}, json={"slug": slug})

    assert _finish_by_route(app, slug, request).json == {"ok": True}
    assert brand.rows("select id::text from click") == []
