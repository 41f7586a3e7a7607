"""The load generator sends every request once at the requested pace and records its response."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from bench.ground import load
from bench.ground.load import Order


def test_paced_requests_are_due_at_equal_intervals():
    assert [load.due_at(100.0, index, 50.0) for index in (0, 1, 10, 100)] == [100.0, 100.02, 100.2, 102.0]


def test_unpaced_requests_are_due_at_once():
    assert [load.due_at(100.0, index, None) for index in (0, 1, 10)] == [100.0] * 3


@pytest.mark.parametrize("per_second", [None, 500.0])
def test_every_request_is_answered_once_even_if_the_server_closes_connections(per_second):
    received: list[bytes] = []
    with _server(received) as port:
        requests = [b"GET /%d HTTP/1.1\r\n\r\n" % number for number in range(30)]

        result = load.send(Order(port, requests, connections=3, per_second=per_second))

    assert result.statuses == {"200": 30}
    assert sorted(set(received)) == sorted(requests)
    assert len(result.took_ms) == len(result.began) == 30
    assert all(duration > 0 for duration in result.took_ms)
    if per_second:
        intervals = [later - earlier for earlier, later in zip(result.began, result.began[1:], strict=False)]
        assert intervals == pytest.approx([1 / per_second] * 29, abs=1e-5)


@contextmanager
def _server(received: list[bytes]) -> Iterator[int]:
    """Run a threaded server that closes each connection after four requests."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve(sock: socket.socket) -> None:
        with sock:
            for _ in range(4):
                request = sock.recv(1024)
                if not request:
                    return
                received.append(request)
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
