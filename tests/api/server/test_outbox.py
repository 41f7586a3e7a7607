"""Bytes that a slow reader has not read stay in order, in memory or in a file."""

import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.server import outbox
from api.server.outbox import Outbox, OutboxFull

_MIB = 1024 * 1024


class _SlowReader:
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
def test_bytes_are_sent_in_order(pieces, takes):
    queue, reader = Outbox(), _SlowReader(takes)
    for piece in pieces:
        queue.put(piece)
        queue.push(reader)
    is_empty = queue.push(_FastReader(reader))

    assert is_empty
    assert reader.taken == b"".join(pieces)


class _FastReader:
    """The same reader, once it reads everything."""

    def __init__(self, slow: _SlowReader) -> None:
        self._slow = slow

    def send(self, data: memoryview) -> int:
        self._slow.taken += data
        return len(data)

    def sendmsg(self, buffers: list[memoryview]) -> int:
        return sum(self.send(buffer) for buffer in buffers)


def test_bytes_beyond_the_memory_limit_pass_through_a_file_in_order():
    queue, reader = Outbox(), _SlowReader([])
    pieces = [bytes([number]) * _MIB for number in range(6)]
    for piece in pieces:
        queue.put(piece)
    assert not queue.push(reader)
    assert queue.bytes == 6 * _MIB

    queue.push(_FastReader(reader))
    queue.put(b"and more")
    assert queue.push(_FastReader(reader))

    assert reader.taken == b"".join(pieces) + b"and more"
    assert queue.bytes == 0


def test_reader_too_far_behind_is_dropped(monkeypatch):
    monkeypatch.setattr(outbox, "_MAX_BYTES", 100)
    queue = Outbox()
    queue.put(b"x" * 100)

    with pytest.raises(OutboxFull):
        queue.put(b"x")


def test_small_pieces_are_sent_in_one_call():
    sender, receiver = socket.socketpair()
    sender.setblocking(False)
    queue = Outbox()
    for number in range(200):
        queue.put(b"%03d" % number)
    with sender, receiver:
        assert queue.push(sender)
        assert receiver.recv(1000) == b"".join(b"%03d" % number for number in range(200))
