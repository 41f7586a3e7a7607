"""The load generator: every request once, answered, and at the pace that was asked for."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from bench.ground import load
from bench.ground.load import Order


def test_requests_at_a_pace_are_due_at_even_distances():
    assert [load.due_at(100.0, place, 50.0) for place in (0, 1, 10, 100)] == [100.0, 100.02, 100.2, 102.0]


def test_requests_without_a_pace_are_due_at_once():
    assert [load.due_at(100.0, place, None) for place in (0, 1, 10)] == [100.0] * 3


@pytest.mark.parametrize("per_second", [None, 500.0])
def test_every_request_is_answered_once_also_when_the_server_closes_between_them(per_second):
    seen: list[bytes] = []
    with _server(seen) as port:
        requests = [b"GET /%d HTTP/1.1\r\n\r\n" % number for number in range(30)]

        result = load.send(Order(port, requests, connections=3, per_second=per_second))

    assert result.statuses == {"200": 30}
    assert sorted(set(seen)) == sorted(requests)
    assert len(result.took_ms) == len(result.began) == 30
    assert all(took > 0 for took in result.took_ms)
    if per_second:
        distances = [later - earlier for earlier, later in zip(result.began, result.began[1:], strict=False)]
        assert distances == pytest.approx([1 / per_second] * 29, abs=1e-5)


@contextmanager
def _server(seen: list[bytes]) -> Iterator[int]:
    """Answer in threads, four requests a connection."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve(sock: socket.socket) -> None:
        with sock:
            for _ in range(4):
                request = sock.recv(1024)
                if not request:
                    return
                seen.append(request)
                sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    def accept() -> None:
        while True:
            try:
                sock, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=serve, args=(sock,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
