"""The load generator: one small process that sends prepared requests over keep-alive sockets, one thread, one epoll.

The product and its anchors use the same one. It builds nothing while it measures, so that a request costs it only tens
of microseconds; like everything here, it runs on the same two cores as the measured processes.
Run as `python -m bench.ground.load`: reads an Order (pickled) from standard input, prints a Result (JSON).
"""

import json
import pickle
import select
import socket
import ssl
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

from bench.ground.machine import BenchFailed, run_module

_READ_BYTES = 65_536
_LENGTH = b"content-length: "
_SILENCE_S = 60


@dataclass(frozen=True, slots=True)
class Order:
    """The requests to send, the port, and the number of connections; `ca` is a certificate file for TLS.

    `per_second` None: each connection sends its next request when it has its response. A number: a request is due at
    every 1/`per_second` s, whether or not responses arrive, and its time runs from when it was due.
    """

    port: int
    requests: Sequence[bytes]
    connections: int = 16
    ca: str | None = None
    per_second: float | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """The seconds from the first byte sent to the last response read, and the number of responses by status.

    Per request, in order: when it was sent or, at a given pace, due (seconds since 1970), and the milliseconds from
    then to its response.
    """

    seconds: float
    statuses: dict[str, int]
    began: list[float]
    took_ms: list[float]


def measure_rate(order: Order) -> float:
    """Send an order from a separate process and return requests per second.

    Raises BenchFailed if any response was not a 200.
    """
    return len(order.requests) / run_order(order).seconds


def run_order(order: Order) -> Result:
    """Send an order from a separate process. Raises BenchFailed if any response was not a 200."""
    result = Result(**json.loads(run_module("bench.ground.load", given=pickle.dumps(order))))
    if result.statuses != {"200": len(order.requests)}:
        raise BenchFailed(f"responses other than 200: {result.statuses}")
    return result


@dataclass(slots=True)
class _Connection:
    """One connection with its current request, and the request's place in the order."""

    sock: socket.socket
    request: bytes = b""
    place: int = 0
    buffer: bytearray = field(default_factory=bytearray)

    def status(self) -> str | None:
        """Return the status once the response is complete; None before."""
        end = self.buffer.find(b"\r\n\r\n")
        if end < 0:
            return None
        head = self.buffer[:end].lower()
        at = head.find(_LENGTH)
        length = int(head[at + len(_LENGTH) :].split(b"\r\n", 1)[0]) if at >= 0 else 0
        return self.buffer[9:12].decode() if len(self.buffer) >= end + 4 + length else None


class _Sender:
    """An order in progress: the connections, the free ones, and the state of each request."""

    def __init__(self, order: Order) -> None:
        self._order = order
        self._lines = {
            line.sock.fileno(): line for line in (_Connection(_connect(order)) for _ in range(order.connections))
        }
        self._free = list(self._lines.values())
        self._poll = select.epoll()
        for descriptor in self._lines:
            self._poll.register(descriptor, select.EPOLLIN)
        self._next = 0
        self._statuses: Counter[str] = Counter()
        self._began = [0.0] * len(order.requests)
        self._ended = [0.0] * len(order.requests)

    def run(self) -> Result:
        """Send all requests and read all responses."""
        since_1970 = time.time() - time.perf_counter()
        started = time.perf_counter()
        received = 0
        while received < len(self._order.requests):
            self._send_due(started)
            for descriptor, _ in self._wait_for_replies(started):
                received += self._read_reply(descriptor)
        return Result(
            seconds=time.perf_counter() - started,
            statuses=dict(self._statuses),
            began=[since_1970 + began for began in self._began],
            took_ms=[(ended - began) * 1000 for began, ended in zip(self._began, self._ended, strict=True)],
        )

    def close(self) -> None:
        """Close every connection."""
        self._poll.close()
        for line in self._lines.values():
            line.sock.close()

    def _next_due(self, started: float) -> float | None:
        """Return when the next request is due; None when all are sent or no connection is free."""
        if self._next == len(self._order.requests) or not self._free:
            return None
        return due_at(started, self._next, self._order.per_second)

    def _send_due(self, started: float) -> None:
        now = time.perf_counter()
        while (due := self._next_due(started)) is not None and due <= now:
            line = self._free.pop()
            line.place, line.request = self._next, self._order.requests[self._next]
            self._next += 1
            self._began[line.place] = due if self._order.per_second else time.perf_counter()
            line.sock.sendall(line.request)

    def _wait_for_replies(self, started: float) -> list[tuple[int, int]]:
        """Wait for responses or the next due time; epoll counts in milliseconds, select in microseconds."""
        due = self._next_due(started)
        if due is not None:
            select.select([self._poll], [], [], max(due - time.perf_counter(), 0))
            return self._poll.poll(0)
        ready = self._poll.poll(_SILENCE_S)
        if not ready:
            raise TimeoutError("no response for a minute")
        return ready

    def _read_reply(self, descriptor: int) -> bool:
        """Read from a connection; return whether a response is complete."""
        line = self._lines[descriptor]
        if not _read(line):
            self._replace(line, descriptor)
            return False
        status = line.status()
        if status is None:
            return False
        self._ended[line.place] = time.perf_counter()
        self._statuses[status] += 1
        line.request = b""
        line.buffer.clear()
        self._free.append(line)
        return True

    def _replace(self, line: _Connection, descriptor: int) -> None:
        """Connect again, and repeat the request without a response."""
        self._poll.unregister(descriptor)
        del self._lines[descriptor]
        line.sock.close()
        line.sock = _connect(self._order)
        line.buffer.clear()
        self._lines[line.sock.fileno()] = line
        self._poll.register(line.sock.fileno(), select.EPOLLIN)
        if line.request:
            line.sock.sendall(line.request)


def due_at(started: float, place: int, per_second: float | None) -> float:
    """Return when a request is due: at once, or at its place in a row at an even pace."""
    return started + place / per_second if per_second else started


def _connect(order: Order) -> socket.socket:
    sock = socket.create_connection(("127.0.0.1", order.port), timeout=30)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if order.ca is None:
        return sock
    return ssl.create_default_context(cafile=order.ca).wrap_socket(sock, server_hostname="localhost")


def _read(line: _Connection) -> bool:
    """Read the received bytes; return False if the server closed the connection, as it may between requests."""
    try:
        piece = line.sock.recv(_READ_BYTES)
    except ConnectionError:
        piece = b""
    line.buffer += piece
    return bool(piece)


def send(order: Order) -> Result:
    """Send an order from this process; responses other than 200 are only counted."""
    sender = _Sender(order)
    try:
        return sender.run()
    finally:
        sender.close()


if __name__ == "__main__":
    print(json.dumps(asdict(send(pickle.load(sys.stdin.buffer)))))
