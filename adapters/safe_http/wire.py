"""One connection to a vetted peer, and the strict HTTP/1.1 reader on it.

Every wait is for what is left of one deadline by the monotonic clock, and every answer has an allowance of bytes, so
a receiver that drips or floods costs no more than the policy says.
"""

import math
import re
import select
import socket
import ssl
from contextlib import suppress
from dataclasses import dataclass, field
from time import monotonic

_MAX_HEAD_BYTES = 65536
_RECORD_BYTES = 16384  # of TLS, at most

TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_HEAD_END = re.compile(rb"\r?\n\r?\n")
_STATUS = re.compile(r"HTTP/1\.([01]) ([1-9][0-9]{2})(?: .*)?")
_KEEP_ALIVE = re.compile(r'(?:.*[\s,])?timeout="?([0-9]{1,9})\b.*', re.IGNORECASE)
_CHUNK_SIZE = re.compile(rb"([0-9A-Fa-f]{1,8})[ \t]*(?:;.*)?\r?\n", re.DOTALL)

Key = tuple[str, int, bool]  # host, port, and whether without TLS
Reply = tuple[int, dict[str, str], bytearray]  # status, headers by lower-case name, body


class Closed(OSError):
    """The receiver closed the connection where more had to come."""


class Malformed(OSError):
    """The answer is not HTTP/1.x."""


class Full(OSError):
    """The answer has used up the bytes allowed to it."""


@dataclass(slots=True, eq=False)
class HttpWire:
    """One connection to a vetted peer, by TLS unless that is this machine. Only the thread that took it touches it."""

    sock: socket.socket
    key: Key
    peer: str
    vetted_at: float
    idle_since: float = 0.0
    promised_s: float = math.inf  # the receiver keeps it open for this long while it is idle
    deadline: float = 0.0
    allowance: int = 0  # bytes that may still be read
    has_sent: bool = False  # a byte of the request at hand; from then on the receiver may act on it
    buffer: bytearray = field(default_factory=bytearray)

    def send(self, request: bytes, deadline: float) -> None:
        self.deadline, self.allowance, self.has_sent = deadline, _MAX_HEAD_BYTES, False
        unsent = memoryview(request)
        while unsent:
            self.sock.settimeout(left_s(deadline))
            # Record by record: half a record says nothing to the receiver, so it is known what was sent.
            unsent = unsent[self.sock.send(unsent[:_RECORD_BYTES]) :]
            self.has_sent = True

    def fill(self) -> None:
        """Append what the receiver sent next to `buffer`; the timeout is what is left of the whole call."""
        if self.allowance <= 0:
            raise Full
        self.sock.settimeout(left_s(self.deadline))
        piece = self.sock.recv(min(_RECORD_BYTES, self.allowance))
        if not piece:
            raise Closed
        self.allowance -= len(piece)
        self.buffer += piece

    def is_quiet(self) -> bool:
        """Return whether nothing waits to be read: an idle connection that speaks is closed or out of step."""
        poll = select.poll()
        poll.register(self.sock, select.POLLIN)
        has_unread = isinstance(self.sock, ssl.SSLSocket) and self.sock.pending()
        return not has_unread and not poll.poll(0)

    def close(self) -> None:
        self.sock.close()


def left_s(deadline: float) -> float:
    """Return the seconds that are left until `deadline`; raises TimeoutError when there are none."""
    seconds = deadline - monotonic()
    if seconds <= 0:
        raise TimeoutError
    return seconds


def read_answer(wire: HttpWire, max_read_bytes: int) -> tuple[Reply, bool]:
    """Return the final answer and whether the connection can carry another request."""
    minor, status, headers = _read_head(wire)
    while status < 200:
        if status == 101:
            raise Malformed
        minor, status, headers = _read_head(wire)
    wire.allowance = max_read_bytes - len(wire.buffer)
    body = bytearray()
    is_whole = _read_body(wire, status, headers, body)
    promise = _KEEP_ALIVE.fullmatch(headers.get("keep-alive", ""))
    wire.promised_s = int(promise[1]) if promise else math.inf
    is_open = minor == "1" and not wire.buffer and "close" not in headers.get("connection", "").lower()
    return (status, headers, body), is_whole and is_open


def _read_head(wire: HttpWire) -> tuple[str, int, dict[str, str]]:
    seen = 0
    while (end := _HEAD_END.search(wire.buffer, max(0, seen - 3))) is None:
        seen = len(wire.buffer)
        wire.fill()
    text = wire.buffer[: end.start()].decode("latin-1").replace("\r\n", "\n")
    del wire.buffer[: end.end()]
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


def _read_body(wire: HttpWire, status: int, headers: dict[str, str], body: bytearray) -> bool:
    """Collect the body; return whether its end was seen and is where the next answer would begin."""
    coding, length = headers.get("transfer-encoding"), headers.get("content-length")
    try:
        if status in (204, 304):
            return True
        if coding is not None:
            _read_chunks(wire, coding, body)
            return length is None
        if length is not None:
            _take(wire, _length(length), body)
            return True
        _read_to_close(wire, body)
    except Full:
        pass
    return False


def _read_chunks(wire: HttpWire, coding: str, body: bytearray) -> None:
    if coding.lower() != "chunked":
        raise Malformed
    while True:
        size = _CHUNK_SIZE.fullmatch(_line(wire))
        if size is None:
            raise Malformed
        if int(size[1], 16) == 0:
            break
        _take(wire, int(size[1], 16), body)
        if _line(wire).rstrip(b"\r\n"):
            raise Malformed
    while _line(wire).rstrip(b"\r\n"):
        pass  # a trailer says nothing we keep


def _read_to_close(wire: HttpWire, body: bytearray) -> None:
    with suppress(Closed):
        while True:
            body += wire.buffer
            wire.buffer.clear()
            wire.fill()


def _take(wire: HttpWire, count: int, body: bytearray) -> None:
    while count:
        if not wire.buffer:
            wire.fill()
        piece = wire.buffer[:count]
        del wire.buffer[:count]
        body += piece
        count -= len(piece)


def _line(wire: HttpWire) -> bytes:
    while (end := wire.buffer.find(b"\n")) < 0:
        wire.fill()
    line = bytes(wire.buffer[: end + 1])
    del wire.buffer[: end + 1]
    return line


def _length(written: str) -> int:
    values = {value.strip() for value in written.split(",")}
    (value, *others) = values
    if others or not re.fullmatch("[0-9]{1,18}", value):
        raise Malformed
    return int(value)
