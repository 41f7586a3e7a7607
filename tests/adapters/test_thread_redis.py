"""A thread's own connection to the broker's server, on a real server."""

import os
import threading

import pytest
from redis import RedisError

from adapters import broker, servers
from adapters.embedded import server_pair
from adapters.thread_redis import Script, ThreadRedis

_TWICE = Script("return tonumber(ARGV[1]) * 2")


@pytest.fixture
def connection(app):
    """A connection that was used already."""
    wire = ThreadRedis(servers.urls().redis_url)
    assert wire.run(_TWICE, 0, 1) == 2
    return wire


def _admin():
    return broker.client(servers.urls().redis_url)


def test_forgotten_script_is_sent_again(tmp_path):
    """Uses its own server: flushing scripts of the shared one would affect other processes."""
    url = server_pair.start(tmp_path, postgres=False, durable=False).redis_url
    try:
        connection = ThreadRedis(url)
        first = connection.run(_TWICE, 0, 1)
        broker.client(url).script_flush()

        assert [first, *(connection.run(_TWICE, 0, number) for number in (2, 3))] == [2, 4, 6]
    finally:
        server_pair.stop(tmp_path)


def test_connection_closed_by_the_server_is_reopened(connection):
    _admin().client_kill_filter(_id=connection.send("CLIENT", "ID"))

    assert connection.run(_TWICE, 0, 2) == 4


def test_each_thread_has_its_own_connection(connection):
    connection_ids = [connection.send("CLIENT", "ID")]
    other = threading.Thread(target=lambda: connection_ids.append(connection.send("CLIENT", "ID")))
    other.start()
    other.join()

    assert len(set(connection_ids)) == 2
    assert connection.send("CLIENT", "ID") == connection_ids[0]


def test_each_process_has_its_own_connection(connection, monkeypatch):
    before = connection.send("CLIENT", "ID")
    monkeypatch.setattr(os, "getpid", lambda: 1)

    assert connection.send("CLIENT", "ID") != before


def test_unreachable_server_raises_redis_error():
    with pytest.raises(RedisError):
        ThreadRedis("unix:///nowhere/valkey.sock?db=0").run(_TWICE, 0, 1)
