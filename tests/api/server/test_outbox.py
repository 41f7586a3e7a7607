"""What a slow reader has not taken yet stays in order, in memory or in a file."""

import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.server import outbox
from api.server.outbox import Outbox, OutboxFull

_MIB = 1024 * 1024


class _Slow:
    """A reader that takes a few bytes at a time."""

    def __init__(self, takes: list[int]) -> None:
        self.taken = b""
        self._takes = iter(takes)

    def send(self, data: memoryview) -> int:
        count = next(self._takes, 0)
        if not count:
            raise BlockingIOError
        self.taken += data[:count]
        return min(count, len(data))

    def sendmsg(self, buffers: list[memoryview]) -> int:
        return self.send(memoryview(b"".join(buffers)))


@given(st.lists(st.binary(min_size=1, max_size=50), max_size=30), st.lists(st.integers(1, 70), max_size=40))
def test_bytes_leave_in_the_order_in_which_they_came(pieces, takes):
    waiting, reader = Outbox(), _Slow(takes)
    for piece in pieces:
        waiting.put(piece)
        waiting.push(reader)
    is_empty = waiting.push(_Rest(reader))

    assert is_empty
    assert reader.taken == b"".join(pieces)


class _Rest:
    """The same reader, once it takes everything."""

    def __init__(self, slow: _Slow) -> None:
        self._slow = slow

    def send(self, data: memoryview) -> int:
        self._slow.taken += data
        return len(data)

    def sendmsg(self, buffers: list[memoryview]) -> int:
        return sum(self.send(buffer) for buffer in buffers)


def test_what_memory_is_not_kept_for_goes_through_a_file_in_order():
    waiting, reader = Outbox(), _Slow([])
    pieces = [bytes([number]) * _MIB for number in range(6)]
    for piece in pieces:
        waiting.put(piece)
    assert not waiting.push(reader)
    assert waiting.bytes == 6 * _MIB

    waiting.push(_Rest(reader))
    waiting.put(b"and more")
    assert waiting.push(_Rest(reader))

    assert reader.taken == b"".join(pieces) + b"and more"
    assert waiting.bytes == 0


def test_a_reader_who_is_too_far_behind_is_given_up(monkeypatch):
    monkeypatch.setattr(outbox, "_MAX_BYTES", 100)
    waiting = Outbox()
    waiting.put(b"x" * 100)

    with pytest.raises(OutboxFull):
        waiting.put(b"x")


def test_a_socket_takes_many_small_pieces_in_one_go():
    here, there = socket.socketpair()
    here.setblocking(False)
    waiting = Outbox()
    for number in range(200):
        waiting.put(b"%03d" % number)
    with here, there:
        assert waiting.push(here)
        assert there.recv(1000) == b"".join(b"%03d" % number for number in range(200))
