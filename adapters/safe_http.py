"""Speak to a URL that a customer gave us; the one way to do so.

It drives ssl sockets itself, not through requests: for the pinned address, a true deadline and less CPU per request.
It follows no redirect and knows no proxy, netrc, cookie or content coding. `adapters.addresses` holds the URL rules.
"""

import os
import re
import select
import socket
import ssl
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice, takewhile
from time import monotonic

import certifi

from adapters import addresses
from adapters.addresses import Refused as Refused

_EXCERPT_CHARACTERS = 500
_MAX_HEAD_BYTES = 65536
_READ_BYTES = 16384  # one TLS record
_MAX_TRIES = 4  # addresses of one name; each gets its share of the time left
_IDLE_S = 30
_VETTED_S = 60
_IDLE_PER_HOST = 8
_IDLE_IN_ALL = 256

_OURS = frozenset({"host", "content-length", "transfer-encoding", "connection", "accept-encoding"})
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_HEAD_END = re.compile(rb"\r?\n\r?\n")
_STATUS = re.compile(r"HTTP/1\.([01]) ([1-9][0-9]{2})(?: .*)?")
_CHUNK_SIZE = re.compile(rb"([0-9A-Fa-f]{1,8})[ \t]*(?:;.*)?\r?\n", re.DOTALL)

_Key = tuple[str, int]  # host and port
_Found = tuple[socket.AddressFamily, str, tuple[object, ...]]  # family, numeric address, what connect() takes
_Reply = tuple[int, dict[str, str], bytearray]  # status, headers by lower-case name, body


class Unreachable(Exception):
    """No complete answer came. `reason` is short, free of the receiver's own text, safe to store and show."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class _Closed(OSError):
    """The receiver closed the connection where more had to come."""


class _Malformed(OSError):
    """The answer is not HTTP/1.x."""


class _Full(OSError):
    """The answer has used up the bytes allowed to it."""


class Headers(Mapping[str, str]):
    """Header values by name in any case; values of a repeated header are joined with a comma."""

    __slots__ = ("_values",)

    def __init__(self, values: dict[str, str]) -> None:
        self._values = values

    def __getitem__(self, name: str) -> str:
        return self._values[name.lower()]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


@dataclass(frozen=True, slots=True)
class Answer:
    """What the receiver said, whatever its status. `excerpt` is the first 500 characters, without NUL."""

    status: int
    headers: Mapping[str, str]
    excerpt: str
    elapsed_ms: int


@dataclass(frozen=True, slots=True)
class Policy:
    """What may be called and how long it may take. `allow_private`, for tests and development, allows any address
    and any port. `ca_bundle` is a PEM file that replaces the public authorities."""

    allow_private: bool = False
    ports: frozenset[int] = frozenset({443, 8443})
    ca_bundle: str | None = None
    timeout_s: int = 10
    max_read_bytes: int = 65536

    def target(self, url: str) -> addresses.Target:
        return addresses.parse_url(url, ports=None if self.allow_private else self.ports)


def check_url(url: str, policy: Policy) -> None:
    """Raise `Refused` when this URL may not be stored. A name without a DNS answer passes: sending checks again."""
    with suppress(OSError):
        _vetted(policy.target(url), policy, monotonic() + policy.timeout_s)


class Client:
    """Posts to customers' URLs; shared by all threads of a process and safe to create before a fork."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._tls = ssl.create_default_context(cafile=policy.ca_bundle or certifi.where())
        self._tls.set_alpn_protocols(["http/1.1"])
        self._idle = _Idle()

    def post(self, url: str, *, body: bytes, headers: Mapping[str, str]) -> Answer:
        """Send one POST and return the answer; a 3xx or 5xx is an answer.

        Raises `Refused`, before any packet, when the URL or any address of its host is not allowed, and `Unreachable`
        when no complete answer came within the policy's time. Sends twice when a kept connection proves dead before
        it answers, so the receiver must drop duplicates.
        """
        started = monotonic()
        target = self._policy.target(url)
        request = _request(target, body, headers)
        try:
            status, values, content = self._send(target, request, started + self._policy.timeout_s)
        except OSError as error:
            raise Unreachable(_reason(error, self._policy.timeout_s)) from error
        return Answer(status, Headers(values), _excerpt(content), int((monotonic() - started) * 1000))

    def close(self) -> None:
        """Close the idle connections. A later post opens new ones."""
        self._own_idle().close()

    def _send(self, target: addresses.Target, request: bytes, deadline: float) -> _Reply:
        kept = self._kept(target, deadline)
        if kept is not None:
            try:
                return self._exchange(kept, request, deadline)
            except OSError as error:
                if kept.has_answered or isinstance(error, TimeoutError):
                    raise
        return self._exchange(self._open(target, deadline), request, deadline)

    def _exchange(self, wire: "_Wire", request: bytes, deadline: float) -> _Reply:
        try:
            wire.send(request, deadline)
            reply, is_reusable = _read_answer(wire, self._policy.max_read_bytes)
        except BaseException:  # also a time limit raised into this thread: the wire is in mid-answer
            wire.close()
            raise
        if is_reusable:
            self._own_idle().put(wire)
        else:
            wire.close()
        return reply

    def _open(self, target: addresses.Target, deadline: float) -> "_Wire":
        found = _vetted(target, self._policy, deadline)
        peer, plain = _connect(found[:_MAX_TRIES], deadline)
        try:
            plain.settimeout(_left(deadline))
            secure = self._tls.wrap_socket(plain, server_hostname=target.host)
        except BaseException:
            plain.close()
            raise
        return _Wire(secure, (target.host, target.port), peer, vetted_at=monotonic())

    def _kept(self, target: addresses.Target, deadline: float) -> "_Wire | None":
        """Take an idle connection whose peer is, or is again found to be, an allowed address of the host."""
        wire = self._own_idle().take((target.host, target.port))
        if wire is None or monotonic() - wire.vetted_at < _VETTED_S:
            return wire
        try:
            is_still_there = wire.peer in [address for _, address, _ in _vetted(target, self._policy, deadline)]
        except BaseException:
            wire.close()
            raise
        if not is_still_there:
            wire.close()
            return None
        wire.vetted_at = monotonic()
        return wire

    def _own_idle(self) -> "_Idle":
        idle = self._idle
        if idle.pid == os.getpid():
            return idle
        self._idle = _Idle()
        idle.abandon()
        return self._idle


@dataclass(slots=True, eq=False)
class _Wire:
    """One TLS connection to a vetted peer. Only the thread that took it touches it."""

    sock: ssl.SSLSocket
    key: _Key
    peer: str
    vetted_at: float
    idle_since: float = 0.0
    deadline: float = 0.0
    allowance: int = 0  # bytes that may still be read
    has_answered: bool = False
    buffer: bytearray = field(default_factory=bytearray)

    def send(self, request: bytes, deadline: float) -> None:
        self.deadline, self.allowance, self.has_answered = deadline, _MAX_HEAD_BYTES, False
        unsent = memoryview(request)
        while unsent:
            self.sock.settimeout(_left(deadline))
            unsent = unsent[self.sock.send(unsent) :]

    def fill(self) -> None:
        """Append what the receiver sent next to `buffer`; the timeout is what is left of the whole call."""
        if self.allowance <= 0:
            raise _Full
        self.sock.settimeout(_left(self.deadline))
        piece = self.sock.recv(min(_READ_BYTES, self.allowance))
        if not piece:
            raise _Closed
        self.has_answered = True
        self.allowance -= len(piece)
        self.buffer += piece

    def is_quiet(self) -> bool:
        """Return whether nothing waits to be read: an idle connection that speaks is closed or out of step."""
        poll = select.poll()
        poll.register(self.sock, select.POLLIN)
        return not self.sock.pending() and not poll.poll(0)

    def close(self) -> None:
        self.sock.close()


class _Idle:
    """The kept-alive connections of one process, bounded in number and age."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self._lock = threading.Lock()
        self._by_age: dict[_Wire, None] = {}  # oldest first
        self._by_key: dict[_Key, list[_Wire]] = {}

    def take(self, key: _Key) -> _Wire | None:
        while (wire := self._pop(key)) is not None:
            if monotonic() - wire.idle_since < _IDLE_S and wire.is_quiet():
                return wire
            wire.close()
        return None

    def put(self, wire: _Wire) -> None:
        wire.idle_since = monotonic()
        with self._lock:
            self._by_age[wire] = None
            self._by_key.setdefault(wire.key, []).append(wire)
            surplus = self._surplus(wire)
            for each in surplus:
                self._forget(each)
        for each in surplus:
            each.close()

    def close(self) -> None:
        with self._lock:
            wires = list(self._by_age)
            self._by_age.clear()
            self._by_key.clear()
        for wire in wires:
            wire.close()

    def abandon(self) -> None:
        """Close what a fork inherited: the parent keeps its own, and the lock may be held by a thread not here."""
        for wire in list(self._by_age):
            wire.close()

    def _surplus(self, newest: _Wire) -> set[_Wire]:
        excess = islice(self._by_age, max(0, len(self._by_age) - _IDLE_IN_ALL))
        expired = takewhile(lambda wire: newest.idle_since - wire.idle_since >= _IDLE_S, self._by_age)
        return {*self._by_key[newest.key][:-_IDLE_PER_HOST], *excess, *expired}

    def _pop(self, key: _Key) -> _Wire | None:
        with self._lock:
            mates = self._by_key.get(key)
            if not mates:
                return None
            newest = mates[-1]
            self._forget(newest)
            return newest

    def _forget(self, wire: _Wire) -> None:
        del self._by_age[wire]
        mates = self._by_key[wire.key]
        mates.remove(wire)
        if not mates:
            del self._by_key[wire.key]


def _vetted(target: addresses.Target, policy: Policy, deadline: float) -> list[_Found]:
    """Resolve the host once and return its addresses, all of them allowed. Raises `Refused` and OSError."""
    found = _resolve(target.host, target.port, deadline)
    if not policy.allow_private and not all(addresses.is_public(address) for _, address, _ in found):
        raise Refused("url_not_allowed", "The URL's host must have public addresses only.")
    return found


def _resolve(host: str, port: int, deadline: float) -> list[_Found]:
    """Ask DNS from a thread of its own: getaddrinfo knows no timeout and the name server may be the receiver's."""
    answer: Future[list[_Found]] = Future()

    def ask() -> None:
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            answer.set_result([(family, str(sockaddr[0]), sockaddr) for family, _, _, _, sockaddr in found])
        except Exception as error:
            answer.set_exception(error)

    threading.Thread(target=ask, name="resolve", daemon=True).start()
    return answer.result(_left(deadline))


def _connect(found: list[_Found], deadline: float) -> tuple[str, socket.socket]:
    """Connect to the first address that answers; each gets an equal share of the time that is left."""
    failure = OSError()
    for position, (family, address, sockaddr) in enumerate(found):
        sock = socket.socket(family, socket.SOCK_STREAM)
        try:
            sock.settimeout(_left(deadline) / (len(found) - position))
            sock.connect(sockaddr)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return address, sock
        except OSError as error:
            sock.close()
            failure = error
    raise failure


def _left(deadline: float) -> float:
    left_s = deadline - monotonic()
    if left_s <= 0:
        raise TimeoutError
    return left_s


def _request(target: addresses.Target, body: bytes, headers: Mapping[str, str]) -> bytes:
    lines = [
        f"POST {target.path} HTTP/1.1",
        f"Host: {target.authority}",
        "Accept-Encoding: identity",
        f"Content-Length: {len(body)}",
    ]
    for name, value in headers.items():
        if not _TOKEN.fullmatch(name) or name.lower() in _OURS or _CONTROL.search(value):
            raise ValueError(f"header {name!r} cannot be sent")
        lines.append(f"{name}: {value}")
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


def _read_answer(wire: _Wire, max_read_bytes: int) -> tuple[_Reply, bool]:
    """Return the final answer and whether the connection can carry another request."""
    minor, status, headers = _read_head(wire)
    while status < 200:
        if status == 101:
            raise _Malformed
        minor, status, headers = _read_head(wire)
    wire.allowance = max_read_bytes - len(wire.buffer)
    body = bytearray()
    is_whole = _read_body(wire, status, headers, body)
    is_open = minor == "1" and not wire.buffer and "close" not in headers.get("connection", "").lower()
    return (status, headers, body), is_whole and is_open


def _read_head(wire: _Wire) -> tuple[str, int, dict[str, str]]:
    seen = 0
    while (end := _HEAD_END.search(wire.buffer, max(0, seen - 3))) is None:
        seen = len(wire.buffer)
        wire.fill()
    text = wire.buffer[: end.start()].decode("latin-1").replace("\r\n", "\n")
    del wire.buffer[: end.end()]
    status_line, *lines = text.split("\n")
    status = _STATUS.fullmatch(status_line)
    if status is None or _CONTROL.search(text.replace("\n", "")):
        raise _Malformed
    return status[1], int(status[2]), _read_headers(lines)


def _read_headers(lines: list[str]) -> dict[str, str]:
    headers: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon or not _TOKEN.fullmatch(name):
            raise _Malformed
        name, value = name.lower(), value.strip(" \t")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers


def _read_body(wire: _Wire, status: int, headers: dict[str, str], body: bytearray) -> bool:
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
    except _Full:
        pass
    return False


def _read_chunks(wire: _Wire, coding: str, body: bytearray) -> None:
    if coding.lower() != "chunked":
        raise _Malformed
    while True:
        size = _CHUNK_SIZE.fullmatch(_line(wire))
        if size is None:
            raise _Malformed
        if int(size[1], 16) == 0:
            break
        _take(wire, int(size[1], 16), body)
        if _line(wire).rstrip(b"\r\n"):
            raise _Malformed
    while _line(wire).rstrip(b"\r\n"):
        pass  # a trailer says nothing we keep


def _read_to_close(wire: _Wire, body: bytearray) -> None:
    with suppress(_Closed):
        while True:
            body += wire.buffer
            wire.buffer.clear()
            wire.fill()


def _take(wire: _Wire, count: int, body: bytearray) -> None:
    while count:
        if not wire.buffer:
            wire.fill()
        piece = wire.buffer[:count]
        del wire.buffer[:count]
        body += piece
        count -= len(piece)


def _line(wire: _Wire) -> bytes:
    while (end := wire.buffer.find(b"\n")) < 0:
        wire.fill()
    line = bytes(wire.buffer[: end + 1])
    del wire.buffer[: end + 1]
    return line


def _length(written: str) -> int:
    values = {value.strip() for value in written.split(",")}
    (value, *others) = values
    if others or not re.fullmatch("[0-9]{1,18}", value):
        raise _Malformed
    return int(value)


def _excerpt(body: bytearray) -> str:
    few = bytes(body).replace(b"\0", b"")[: 4 * _EXCERPT_CHARACTERS]  # a character takes at most four bytes
    return few.decode("utf-8", "replace")[:_EXCERPT_CHARACTERS]


def _reason(error: OSError, timeout_s: int) -> str:
    match error:
        case TimeoutError():
            return f"no complete answer within {timeout_s} s"
        case socket.gaierror():
            return "the host name does not resolve"
        case ssl.SSLCertVerificationError():
            return f"TLS certificate refused: {error.verify_message}"
        case ssl.SSLError():
            return f"TLS failed: {(error.reason or 'unknown').replace('_', ' ').lower()}"
        case _Closed():
            return "the connection was closed before the answer was complete"
        case _Malformed():
            return "the answer is not valid HTTP/1.1"
        case _Full():
            return "the answer's headers are too large"
    return os.strerror(error.errno).lower() if error.errno else "the connection failed"
