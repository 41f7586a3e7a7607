"""Clicks in front of the routes are what they are behind them. Source: tracking spec, "Public click endpoint"."""

import pytest

from adapters.prompt_wire import Script
from api.clicks import express
from tests.support.rows.visiting import BROWSER, CLICK, click, limited, new_slug, on_stream, visit
from tests.support.turning import turn

_OWN = ("X-Request-Id", "clickId")
_READ = Script("return redis.call('get', KEYS[1])")


@pytest.fixture
def slug(app, brand, monkeypatch):
    """A link that can earn, in a process that remembers it."""
    turn(monkeypatch, web={"key_cache_s": 3600})
    brand.program(cookie_window_days=45)
    slug = new_slug()
    brand.affiliate(slug)
    click(app, slug)
    return slug


@pytest.fixture
def taken(app, monkeypatch):
    """How many requests were answered in front of the routes, and a way past them."""
    answers = []
    answer = express.Express._in_order

    def noted(self, environ):
        answers.append(answer(self, environ))
        return answers[-1]

    monkeypatch.setattr(express.Express, "_in_order", noted)
    return answers


def _behind(app, monkeypatch):
    monkeypatch.setattr(express, "_is_plain", lambda _: False)


def _told(answer):
    headers = [(name, value) for name, value in answer.headers if name not in _OWN]
    shown = answer.json
    assert ("clickId" in shown) == (len(shown) > 1)
    return answer.status_code, headers, list(shown), {name: shown[name] for name in shown if name not in _OWN}


_SENT = [
    {},
    {"headers": {"Origin": "https://shop.test"}},
    {"headers": {"Origin": "null", "X-Request-Id": "mine"}},
    {"headers": {"X-Request-Id": "x" * 65}},
    {"headers": {"User-Agent": "Googlebot"}},
    {"headers": {"Sec-Purpose": "prefetch"}},
    {"headers": {"Accept-Language": "de-CH,de;q=0.9", "Idempotency-Key": "one"}},
    {"headers": {"Host": "shop.example.com:8443"}},
    {"url": "https://shop.test/?via=x&ü=1", "referrer": "https://news.test/", "subId": "Mail 1", "visitorId": "v"},
    {"url": None, "referrer": None, "subId": None, "visitorId": None, "programId": None, "more": {"a": [1]}},
    {"url": "x" * 8192},
    {"ip": "2001:db8::1"},
]


@pytest.mark.parametrize("sent", _SENT, ids=str)
def test_a_click_in_order_is_answered_and_sent_as_the_route_does(app, slug, taken, monkeypatch, sent):
    in_front = click(app, slug, **sent)
    assert [answer is not None for answer in taken] == [True]
    _behind(app, monkeypatch)
    behind = click(app, slug, **sent)

    assert len(taken) == 1
    assert _told(in_front) == _told(behind)
    sent_on = [one._replace(id="", occurred_at="") for one in on_stream()[1:]]
    assert sent_on[:1] == sent_on[1:]
    given = sent.get("headers", {}).get("X-Request-Id", "")
    assert (in_front.headers["X-Request-Id"] == given) == (behind.headers["X-Request-Id"] == given)


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
def test_what_is_not_in_order_goes_on_to_the_route_as_it_came(app, slug, taken, monkeypatch, raw):
    in_front = visit(app, CLICK, method="POST", data=raw)
    assert not any(taken)
    _behind(app, monkeypatch)
    behind = visit(app, CLICK, method="POST", data=raw)

    assert (in_front.status_code, in_front.data) == (behind.status_code, behind.data)
    assert [name for name, _ in in_front.headers] == [name for name, _ in behind.headers]


@pytest.mark.parametrize("host", ["", "a b", "shop.test:x", "shop.test/", "[::1]", "shop..test"])
def test_a_host_that_is_out_of_the_ordinary_is_the_routes_to_judge(app, slug, taken, host):
    click(app, slug, headers={"Host": host})

    assert taken == []


@pytest.mark.parametrize("query", ["debug=1", "de%62ug=1"])
def test_why_is_the_routes_to_say_in_whatever_spelling_it_is_asked(app, slug, brand, taken, query):
    headers = {"Authorization": f"Bearer {brand.api_key}", "User-Agent": BROWSER}

    answer = visit(app, f"{CLICK}?{query}", method="POST", json={"slug": slug}, headers=headers)

    assert (taken, answer.json["debug"]["recorded"]) == ([], True)


def test_a_request_over_the_limit_is_counted_once(app, slug, taken, monkeypatch):
    limiter = limited(anonymous_tracking=3)
    monkeypatch.setitem(app.extensions, "limiter", limiter)

    statuses = [click(app, slug).status_code for _ in range(5)]

    (window,) = limiter.windows("anonymous_tracking", "203.0.113.7")
    assert statuses == [200, 200, 200, 429, 429]
    assert limiter._wire.run(_READ, 1, window.key) == b"4"


def test_it_is_counted_and_logged_under_its_route(app, slug, taken):
    count = f'finderfee_request_seconds_count{{route="{CLICK}",status="200"}}'
    before = _value(app, count)

    click(app, slug, headers={"User-Agent": BROWSER})

    assert (len(taken), _value(app, count) - before) == (1, 1)


def _value(app, name):
    page = app.test_client().get("/metrics").text
    return next((float(line.split()[-1]) for line in page.splitlines() if line.startswith(name)), 0.0)
