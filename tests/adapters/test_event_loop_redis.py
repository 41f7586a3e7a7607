"""The event loop's Redis connection, on a real server."""

import select
import threading
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import urlsplit
from uuid import uuid4

import pytest
from redis import RedisError

from adapters import broker, event_loop_redis, servers
from adapters.event_loop_redis import EventLoopRedis, ScriptCall
from adapters.thread_redis import Script
from tests.support.installation.proxy import Action, Proxy

_PATIENCE_S = 20
_TWICE = Script("return tonumber(ARGV[1]) * 2")
_NIL = Script("return false")
_FAILS = Script("return redis.error_reply('OOM no room')")


@pytest.fixture
def connection(app):
    return EventLoopRedis(servers.urls().redis_url)


def _send_calls(connection, *calls):
    """Make all calls at once and return pairs of place and reply, in the order of their arrival."""
    replies = []
    for place, call in enumerate(calls):
        connection.call(call, lambda reply, place=place: replies.append((place, reply)))
    while connection.has_pending:
        connection.flush()
        assert select.select([connection.descriptor], [], [], _PATIENCE_S)[0], "no reply"
        connection.read_replies()
    return replies


def _twice(number):
    return ScriptCall(_TWICE, (), (number,))


def test_each_call_gets_its_own_reply(connection):
    replies = _send_calls(connection, _twice(1), ScriptCall(_NIL, ("a",), (b"",)), *map(_twice, range(2, 3000)))

    replies.sort(key=lambda pair: pair[0])  # a script that the server does not know is sent again, after the others
    assert replies == [(0, 2), (1, None), *((number, number * 2) for number in range(2, 3000))]
    assert not (connection.is_closed or connection.has_unsent)


def test_flush_sends_all_queued_calls_in_one_write(connection, monkeypatch):
    writes = []
    send = connection._socket.send
    spy = SimpleNamespace(send=lambda data: writes.append(bytes(data)) or send(data))
    monkeypatch.setattr(connection, "_socket", spy)
    for number in range(100):
        connection.call(_twice(number), print)

    connection.flush()

    assert "Budget: no round trip of its own" in EventLoopRedis.call.__doc__
    assert [data.count(b"EVALSHA") for data in writes] == [100]


def test_unknown_script_is_sent_as_text(connection):
    new = Script(f"{_TWICE.text} -- {uuid4()}")  # scripts are not flushed: other processes use this server too

    assert sorted(_send_calls(connection, ScriptCall(new, (), (1,)), ScriptCall(new, (), (2,)))) == [(0, 2), (1, 4)]


def test_lost_connection_reports_an_error_for_every_pending_call(app):
    is_cut, url = threading.Event(), servers.urls().redis_url
    cutting = Proxy(
        Path(urlsplit(url).path), on_request=lambda _: Action.DISCONNECT if is_cut.is_set() else Action.FORWARD
    )
    with closing(cutting):
        connection = EventLoopRedis(cutting.url(url))
    is_cut.set()

    replies = _send_calls(connection, _twice(1), _twice(2))

    assert [(place, isinstance(reply, RedisError)) for place, reply in replies] == [(0, True), (1, True)]
    assert connection.is_closed


def test_error_reply_is_reported_and_closes_the_connection(connection):
    for script in (_TWICE, _FAILS):
        broker.client(servers.urls().redis_url).script_load(script.text)

    replies = _send_calls(connection, _twice(1), ScriptCall(_FAILS, (), ()), _twice(2))

    assert replies[0] == (0, 2)
    assert [(place, "OOM" in str(reply)) for place, reply in replies[1:]] == [(1, True), (2, True)]
    assert connection.is_closed


def test_malformed_reply_closes_the_connection(connection, monkeypatch):
    replies = []
    connection.call(_twice(1), replies.append)
    page = SimpleNamespace(recv=lambda _: b"HTTP/1.1 502 Bad Gateway\r\n\r\n", send=connection._socket.send)
    monkeypatch.setattr(connection, "_socket", page)

    connection.read_replies()

    assert [isinstance(reply, RedisError) for reply in replies] == [True]
    assert connection.is_closed


def test_overdue_reply_closes_the_connection(app, monkeypatch):
    monkeypatch.setattr(event_loop_redis, "REPLY_TIMEOUT_S", 0.0)
    is_lost, replies, url = threading.Event(), [], servers.urls().redis_url
    losing = Proxy(Path(urlsplit(url).path), on_reply=lambda _: Action.DROP if is_lost.is_set() else Action.FORWARD)
    with closing(losing):
        connection = EventLoopRedis(losing.url(url))
    is_lost.set()

    connection.call(_twice(1), replies.append)
    connection.flush()
    connection.check_timeout()

    assert [isinstance(reply, RedisError) for reply in replies] == [True]
    assert connection.is_closed


def test_reply_received_before_the_timeout_counts(connection, monkeypatch):
    monkeypatch.setattr(event_loop_redis, "REPLY_TIMEOUT_S", 0.0)
    replies = []
    connection.call(_twice(1), replies.append)
    connection.flush()
    assert select.select([connection.descriptor], [], [], _PATIENCE_S)[0]

    connection.check_timeout()

    assert (replies, connection.is_closed) == ([2], False)


def test_unreachable_server_raises():
    with pytest.raises(RedisError):
        EventLoopRedis("unix:///nowhere/valkey.sock?db=0")


@pytest.mark.parametrize(
    ("url", "is_supported"),
    [
        ("redis://127.0.0.1:1/0", True),
        ("rediss://127.0.0.1:1/0", False),
        ("redis+cluster://127.0.0.1:1", False),
    ],
)
def test_cluster_and_tls_are_not_supported(url, is_supported):
    assert event_loop_redis.is_supported(url) is is_supported
