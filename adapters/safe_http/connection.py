"""Connections to checked peers, their strict HTTP/1.1 reader, and the pool of idle ones.

Every wait ends at the call's deadline, by the monotonic clock, and every response has a limit of bytes, so that a slow
or flooding receiver costs no more than the policy allows.
"""

import math
import os
import re
import select
import socket
import ssl
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice, takewhile
from time import monotonic

_MAX_HEAD_BYTES = 65536
_RECORD_BYTES = 16384  # of TLS, at most

_IDLE_S = 30
# A request sent while the receiver closes the connection is lost with its attempt, so idle time ends before that.
_MARGIN_S = 1
_MAX_IDLE_PER_HOST = 8
_MAX_IDLE = 256

TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_HEAD_END = re.compile(rb"\r?\n\r?\n")
_STATUS = re.compile(r"HTTP/1\.([01]) ([1-9][0-9]{2})(?: .*)?")
_KEEP_ALIVE = re.compile(r'(?:.*[\s,])?timeout="?([0-9]{1,9})\b.*', re.IGNORECASE)
_CHUNK_SIZE = re.compile(rb"([0-9A-Fa-f]{1,8})[ \t]*(?:;.*)?\r?\n", re.DOTALL)

Key = tuple[str, int, bool]  # host, port, and whether without TLS
Reply = tuple[int, dict[str, str], bytearray]  # status, headers by lower-case name, body


class Closed(OSError):
    """The receiver closed the connection before the response was complete."""


class Malformed(OSError):
    """The response is not HTTP/1.x."""


class TooLarge(OSError):
    """The response exceeds its limit of bytes."""


class BodyTooLarge(TooLarge):
    """The body exceeds its limit of bytes."""


@dataclass(slots=True, eq=False)
class HttpConnection:
    """A connection to a checked peer, with TLS unless that is this machine. Used by one thread at a time."""

    sock: socket.socket
    key: Key
    peer: str
    vetted_at: float
    idle_since: float = 0.0
    keep_alive_s: float = math.inf  # the receiver keeps it open for this long
    deadline: float = 0.0
    allowance: int = 0  # bytes that may still be read
    has_sent: bool = False  # a byte of the current request; from then on the receiver may process it
    buffer: bytearray = field(default_factory=bytearray)

    def send(self, request: bytes, deadline: float) -> None:
        self.deadline, self.allowance, self.has_sent = deadline, _MAX_HEAD_BYTES, False
        unsent = memoryview(request)
        while unsent:
            self.sock.settimeout(remaining_s(deadline))
            # Record by record: the receiver cannot read a partial record, so it is known what was sent.
            unsent = unsent[self.sock.send(unsent[:_RECORD_BYTES]) :]
            self.has_sent = True

    def fill(self) -> None:
        """Append the next received bytes to `buffer`; the timeout is the rest of the call's time."""
        if self.allowance <= 0:
            raise TooLarge
        self.sock.settimeout(remaining_s(self.deadline))
        piece = self.sock.recv(min(_RECORD_BYTES, self.allowance))
        if not piece:
            raise Closed
        self.allowance -= len(piece)
        self.buffer += piece

    def is_quiet(self) -> bool:
        """Return whether nothing can be read: an idle connection with data is closed or out of sync."""
        poll = select.poll()
        poll.register(self.sock, select.POLLIN)
        has_unread = isinstance(self.sock, ssl.SSLSocket) and self.sock.pending()
        return not has_unread and not poll.poll(0)

    def close(self) -> None:
        self.sock.close()


class ConnectionPool:
    """The kept-alive connections of one process, bounded in number and age."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self._lock = threading.Lock()
        self._by_age: dict[HttpConnection, None] = {}  # oldest first
        self._by_key: dict[Key, list[HttpConnection]] = {}

    def take(self, key: Key) -> HttpConnection | None:
        """Return a live idle connection of a host, or None."""
        while (connection := self._pop(key)) is not None:
            if (
                monotonic() - connection.idle_since < min(_IDLE_S, connection.keep_alive_s - _MARGIN_S)
                and connection.is_quiet()
            ):
                return connection
            connection.close()
        return None

    def put(self, connection: HttpConnection) -> None:
        """Add an idle connection; close expired and surplus ones."""
        connection.idle_since = monotonic()
        with self._lock:
            self._by_age[connection] = None
            self._by_key.setdefault(connection.key, []).append(connection)
            surplus = self._surplus(connection)
            for each in surplus:
                self._forget(each)
        for each in surplus:
            each.close()

    def close(self) -> None:
        """Close all idle connections."""
        with self._lock:
            connections = list(self._by_age)
            self._by_age.clear()
            self._by_key.clear()
        for connection in connections:
            connection.close()

    def abandon(self) -> None:
        """Close connections inherited by a fork, without the lock: a thread of the parent may have held it."""
        for connection in list(self._by_age):
            connection.close()

    def _surplus(self, newest: HttpConnection) -> set[HttpConnection]:
        excess = islice(self._by_age, max(0, len(self._by_age) - _MAX_IDLE))
        expired = takewhile(lambda connection: newest.idle_since - connection.idle_since >= _IDLE_S, self._by_age)
        return {*self._by_key[newest.key][:-_MAX_IDLE_PER_HOST], *excess, *expired}

    def _pop(self, key: Key) -> HttpConnection | None:
        with self._lock:
            connections = self._by_key.get(key)
            if not connections:
                return None
            newest = connections[-1]
            self._forget(newest)
            return newest

    def _forget(self, connection: HttpConnection) -> None:
        del self._by_age[connection]
        connections = self._by_key[connection.key]
        connections.remove(connection)
        if not connections:
            del self._by_key[connection.key]


def remaining_s(deadline: float) -> float:
    """Return the seconds until `deadline`. Raises TimeoutError if it has passed."""
    seconds = deadline - monotonic()
    if seconds <= 0:
        raise TimeoutError
    return seconds


def read_response(connection: HttpConnection, max_read_bytes: int, *, cuts_body: bool) -> tuple[Reply, bool]:
    """Return the final response and whether the connection can be reused.

    A larger body is cut off with `cuts_body`, else it raises BodyTooLarge.
    """
    minor, status, headers = _read_head(connection)
    while status < 200:
        if status == 101:
            raise Malformed
        minor, status, headers = _read_head(connection)
    connection.allowance = max_read_bytes - len(connection.buffer)
    body = bytearray()
    try:
        is_whole = _read_body(connection, status, headers, body)
    except TooLarge:
        if not cuts_body:
            raise BodyTooLarge from None
        is_whole = False
    promise = _KEEP_ALIVE.fullmatch(headers.get("keep-alive", ""))
    connection.keep_alive_s = int(promise[1]) if promise else math.inf
    is_open = minor == "1" and not connection.buffer and "close" not in headers.get("connection", "").lower()
    return (status, headers, body), is_whole and is_open


def _read_head(connection: HttpConnection) -> tuple[str, int, dict[str, str]]:
    seen = 0
    while (end := _HEAD_END.search(connection.buffer, max(0, seen - 3))) is None:
        seen = len(connection.buffer)
        connection.fill()
    text = connection.buffer[: end.start()].decode("latin-1").replace("\r\n", "\n")
    del connection.buffer[: end.end()]
    status_line, *lines = text.split("\n")
    status = _STATUS.fullmatch(status_line)
    if status is None or CONTROL.search(text.replace("\n", "")):
        raise Malformed
    return status[1], int(status[2]), _read_headers(lines)


def _read_headers(lines: list[str]) -> dict[str, str]:
    headers: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon or not TOKEN.fullmatch(name):
            raise Malformed
        name, value = name.lower(), value.strip(" \t")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers


def _read_body(connection: HttpConnection, status: int, headers: dict[str, str], body: bytearray) -> bool:
    """Read the body; return whether it is complete and the next response would start after it."""
    coding, length = headers.get("transfer-encoding"), headers.get("content-length")
    if status in (204, 304):
        return True
    if coding is not None:
        _read_chunks(connection, coding, body)
        return length is None
    if length is not None:
        _read_exactly(connection, _parse_length(length), body)
        return True
    _read_to_close(connection, body)
    return False


def _read_chunks(connection: HttpConnection, coding: str, body: bytearray) -> None:
    if coding.lower() != "chunked":
        raise Malformed
    while True:
        size = _CHUNK_SIZE.fullmatch(_read_line(connection))
        if size is None:
            raise Malformed
        if int(size[1], 16) == 0:
            break
        _read_exactly(connection, int(size[1], 16), body)
        if _read_line(connection).rstrip(b"\r\n"):
            raise Malformed
    while _read_line(connection).rstrip(b"\r\n"):
        pass  # trailers are ignored


def _read_to_close(connection: HttpConnection, body: bytearray) -> None:
    with suppress(Closed):
        while True:
            body += connection.buffer
            connection.buffer.clear()
            connection.fill()


def _read_exactly(connection: HttpConnection, count: int, body: bytearray) -> None:
    while count:
        if not connection.buffer:
            connection.fill()
        piece = connection.buffer[:count]
        del connection.buffer[:count]
        body += piece
        count -= len(piece)


def _read_line(connection: HttpConnection) -> bytes:
    while (end := connection.buffer.find(b"\n")) < 0:
        connection.fill()
    line = bytes(connection.buffer[: end + 1])
    del connection.buffer[: end + 1]
    return line


def _parse_length(written: str) -> int:
    values = {value.strip() for value in written.split(",")}
    (value, *others) = values
    if others or not re.fullmatch("[0-9]{1,18}", value):
        raise Malformed
    return int(value)
