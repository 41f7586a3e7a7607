"""The load generator: one small process that sends ready-made requests over kept-alive sockets, one thread, one epoll.

The product and its anchors get the same one. It builds nothing while it measures, so that a request costs it some
tens of microseconds; it runs on the same two cores as what it measures, as everything here does.
Run as `python -m bench.ground.load`: takes an Order (pickled) on standard input, prints a Result (JSON).
"""

import json
import pickle
import select
import socket
import ssl
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field

from bench.ground.machine import BenchFailed, output_of

_READ_BYTES = 65_536
_LENGTH = b"content-length: "
_SILENCE_S = 60


@dataclass(frozen=True, slots=True)
class Order:
    """What to send where, and over how many connections at once; `ca` is a certificate file to speak TLS with."""

    port: int
    requests: Sequence[bytes]
    connections: int = 16
    ca: str | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """How long it took from the first byte sent to the last answer read, and how often each status came."""

    seconds: float
    statuses: dict[str, int]


def fire(order: Order) -> float:
    """Send an order from a process of its own and return requests per second.

    Raises BenchFailed when any answer was not a 200.
    """
    result = Result(**json.loads(output_of("bench.ground.load", given=pickle.dumps(order))))
    if result.statuses != {"200": len(order.requests)}:
        raise BenchFailed(f"answers other than 200: {result.statuses}")
    return len(order.requests) / result.seconds


@dataclass(slots=True)
class _Line:
    """One connection with the request that is under way on it."""

    sock: socket.socket
    sent: bytes = b""
    buffer: bytearray = field(default_factory=bytearray)

    def status(self) -> str | None:
        """Return the status once the whole answer is here; None before."""
        end = self.buffer.find(b"\r\n\r\n")
        if end < 0:
            return None
        head = self.buffer[:end].lower()
        at = head.find(_LENGTH)
        length = int(head[at + len(_LENGTH) :].split(b"\r\n", 1)[0]) if at >= 0 else 0
        return self.buffer[9:12].decode() if len(self.buffer) >= end + 4 + length else None


def _send_all(order: Order) -> Result:
    waiting = iter(order.requests)
    lines = {line.sock.fileno(): line for line in (_Line(_connected(order)) for _ in range(order.connections))}
    poll = select.epoll()
    statuses: Counter[str] = Counter()
    started = time.perf_counter()
    for descriptor, line in lines.items():
        poll.register(descriptor, select.EPOLLIN)
        _send_next(line, waiting)
    while sum(statuses.values()) < len(order.requests):
        ready = poll.poll(_SILENCE_S)
        if not ready:
            raise TimeoutError("no answer for a minute")
        for descriptor, _ in ready:
            line = lines[descriptor]
            if not _read(line):
                poll.unregister(descriptor)
                del lines[descriptor]
                line = _replaced(line, order)
                lines[line.sock.fileno()] = line
                poll.register(line.sock.fileno(), select.EPOLLIN)
                continue
            status = line.status()
            if status is not None:
                statuses[status] += 1
                line.buffer.clear()
                _send_next(line, waiting)
    return Result(time.perf_counter() - started, dict(statuses))


def _connected(order: Order) -> socket.socket:
    sock = socket.create_connection(("127.0.0.1", order.port), timeout=30)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if order.ca is None:
        return sock
    return ssl.create_default_context(cafile=order.ca).wrap_socket(sock, server_hostname="localhost")


def _send_next(line: _Line, waiting: Iterator[bytes]) -> None:
    line.sent = next(waiting, b"")
    if line.sent:
        line.sock.sendall(line.sent)


def _read(line: _Line) -> bool:
    """Take what arrived; False when the server closed the connection, which it may between two requests."""
    try:
        piece = line.sock.recv(_READ_BYTES)
    except ConnectionError:
        piece = b""
    line.buffer += piece
    return bool(piece)


def _replaced(line: _Line, order: Order) -> _Line:
    line.sock.close()
    fresh = _Line(_connected(order), sent=line.sent)
    if fresh.sent:
        fresh.sock.sendall(fresh.sent)
    return fresh


if __name__ == "__main__":
    print(json.dumps(asdict(_send_all(pickle.load(sys.stdin.buffer)))))
