"""One connection for many questions, on a real server."""

import select
import threading
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import urlsplit
from uuid import uuid4

import pytest
from redis import RedisError

from adapters import broker, loop_wire, servers
from adapters.loop_wire import LoopWire, Question
from adapters.prompt_wire import Script
from tests.support.installation.proxy import Fate, Proxy

_PATIENCE_S = 20
_TWICE = Script("return tonumber(ARGV[1]) * 2")
_NOTHING = Script("return false")
_FAILS = Script("return redis.error_reply('OOM no room')")


@pytest.fixture
def wire(app):
    return LoopWire(servers.urls().redis_url)


def _all(wire, *questions):
    """Ask everything at once and return what was told, in the order in which it was."""
    told = []
    for place, question in enumerate(questions):
        wire.ask(question, lambda answer, place=place: told.append((place, answer)))
    while wire.waits:
        wire.push()
        assert select.select([wire.descriptor], [], [], _PATIENCE_S)[0], "no answer"
        wire.take()
    return told


def _twice(number):
    return Question(_TWICE, (), (number,))


def test_each_is_told_its_own_answer_whatever_it_is(wire):
    told = _all(wire, _twice(1), Question(_NOTHING, ("a",), (b"",)), *map(_twice, range(2, 3000)))

    told.sort(key=lambda one: one[0])  # a script that the server does not know yet is sent again, behind the others
    assert told == [(0, 2), (1, None), *((number, number * 2) for number in range(2, 3000))]
    assert not (wire.gave_up or wire.has_unsent)


def test_what_is_asked_together_is_one_write(wire, monkeypatch):
    sent = []
    send = wire._socket.send
    monkeypatch.setattr(wire, "_socket", SimpleNamespace(send=lambda data: sent.append(bytes(data)) or send(data)))
    for number in range(100):
        wire.ask(_twice(number), print)

    wire.push()

    assert "Budget: no round trip of its own" in LoopWire.ask.__doc__
    assert [data.count(b"EVALSHA") for data in sent] == [100]


def test_a_script_that_the_server_does_not_know_is_sent_to_it(wire):
    new = Script(f"{_TWICE.text} -- {uuid4()}")  # none is forgotten: it is the server of other processes too

    assert sorted(_all(wire, Question(new, (), (1,)), Question(new, (), (2,)))) == [(0, 2), (1, 4)]


def test_a_wire_that_is_cut_tells_everybody_who_waits(app):
    is_cut, url = threading.Event(), servers.urls().redis_url
    cutting = Proxy(Path(urlsplit(url).path), asked=lambda _: Fate.IS_CUT if is_cut.is_set() else Fate.PASSES)
    with closing(cutting):
        wire = LoopWire(cutting.url(url))
    is_cut.set()

    told = _all(wire, _twice(1), _twice(2))

    assert [(place, isinstance(answer, RedisError)) for place, answer in told] == [(0, True), (1, True)]
    assert wire.gave_up


def test_an_answer_that_is_an_error_is_told_and_ends_the_wire(wire):
    for script in (_TWICE, _FAILS):
        broker.client(servers.urls().redis_url).script_load(script.text)

    told = _all(wire, _twice(1), Question(_FAILS, (), ()), _twice(2))

    assert told[0] == (0, 2)
    assert [(place, "OOM" in str(answer)) for place, answer in told[1:]] == [(1, True), (2, True)]
    assert wire.gave_up


def test_what_is_no_answer_at_all_ends_the_wire_and_nothing_else(wire, monkeypatch):
    told = []
    wire.ask(_twice(1), told.append)
    page = SimpleNamespace(recv=lambda _: b"HTTP/1.1 502 Bad Gateway\r\n\r\n", send=wire._socket.send)
    monkeypatch.setattr(wire, "_socket", page)

    wire.take()

    assert [isinstance(answer, RedisError) for answer in told] == [True]
    assert wire.gave_up


def test_an_answer_that_does_not_come_in_time_is_not_waited_for(app, monkeypatch):
    monkeypatch.setattr(loop_wire, "PROMPT_S", 0.0)
    is_lost, told, url = threading.Event(), [], servers.urls().redis_url
    losing = Proxy(Path(urlsplit(url).path), answered=lambda _: Fate.IS_LOST if is_lost.is_set() else Fate.PASSES)
    with closing(losing):
        wire = LoopWire(losing.url(url))
    is_lost.set()

    wire.ask(_twice(1), told.append)
    wire.push()
    wire.look_at_the_clock()

    assert [isinstance(answer, RedisError) for answer in told] == [True]
    assert wire.gave_up


def test_an_answer_that_is_here_is_in_time(wire, monkeypatch):
    monkeypatch.setattr(loop_wire, "PROMPT_S", 0.0)
    told = []
    wire.ask(_twice(1), told.append)
    wire.push()
    assert select.select([wire.descriptor], [], [], _PATIENCE_S)[0]

    wire.look_at_the_clock()

    assert (told, wire.gave_up) == ([2], False)


def test_a_server_that_is_away_is_an_error():
    with pytest.raises(RedisError):
        LoopWire("unix:///nowhere/valkey.sock?db=0")


@pytest.mark.parametrize(
    ("url", "is_served"),
    [
        ("redis://127.0.0.1:1/0", True),
        ("rediss://127.0.0.1:1/0", False),
        ("redis+cluster://127.0.0.1:1", False),
    ],
)
def test_what_is_a_cluster_or_speaks_tls_is_asked_by_threads(url, is_served):
    assert loop_wire.serves(url) is is_served
