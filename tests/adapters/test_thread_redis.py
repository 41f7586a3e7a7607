"""A thread's own connection to the broker's server, on a real server."""

import os
import threading

import pytest
from redis import RedisError

from adapters import broker, servers
from adapters.embedded import pair
from adapters.thread_redis import Script, ThreadRedis

_TWICE = Script("return tonumber(ARGV[1]) * 2")


@pytest.fixture
def wire(app):
    """A connection that was used before."""
    wire = ThreadRedis(servers.urls().redis_url)
    assert wire.run(_TWICE, 0, 1) == 2
    return wire


def _admin():
    return broker.client(servers.urls().redis_url)


def test_a_script_that_the_server_forgot_is_sent_again(tmp_path):
    """On a server of its own: what the tests' one forgets, it forgets for those in other processes as well."""
    url = pair.start(tmp_path, postgres=False, durable=False).redis_url
    try:
        wire = ThreadRedis(url)
        first = wire.run(_TWICE, 0, 1)
        broker.client(url).script_flush()

        assert [first, *(wire.run(_TWICE, 0, number) for number in (2, 3))] == [2, 4, 6]
    finally:
        pair.stop(tmp_path)


def test_a_connection_that_the_server_closed_is_opened_again(wire):
    _admin().client_kill_filter(_id=wire.send("CLIENT", "ID"))

    assert wire.run(_TWICE, 0, 2) == 4


def test_every_thread_has_a_connection_of_its_own(wire):
    found = [wire.send("CLIENT", "ID")]
    other = threading.Thread(target=lambda: found.append(wire.send("CLIENT", "ID")))
    other.start()
    other.join()

    assert len(set(found)) == 2
    assert wire.send("CLIENT", "ID") == found[0]


def test_another_process_has_a_connection_of_its_own(wire, monkeypatch):
    before = wire.send("CLIENT", "ID")
    monkeypatch.setattr(os, "getpid", lambda: 1)

    assert wire.send("CLIENT", "ID") != before


def test_a_server_that_is_away_is_an_error():
    with pytest.raises(RedisError):
        ThreadRedis("unix:///nowhere/valkey.sock?db=0").run(_TWICE, 0, 1)
