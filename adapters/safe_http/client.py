"""Speak to a URL that a customer gave us; the one way to do so.

It drives ssl sockets itself, not through requests: for the pinned address, a true deadline and less CPU per request.
It follows no redirect and knows no proxy, netrc, cookie or content coding. `addresses` holds the URL rules.
"""

import os
import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic

import certifi

from adapters.safe_http import addresses
from adapters.safe_http.addresses import UrlRefused, VettedUrl
from adapters.safe_http.idle_wires import IdleWires
from adapters.safe_http.wire import CONTROL, TOKEN, Closed, Full, HttpWire, Key, Malformed, Reply, left_s, read_answer
from adapters.tracing import spans

_EXCERPT_CHARACTERS = 500
_MAX_TRIES = 4  # addresses of one name; each gets its share of the time left
_VETTED_S = 60
# How long somebody who stores a URL waits for its name, and how many of a process do: a web server's threads are few.
_EARLY_S = 1.0
_askers = threading.BoundedSemaphore(2)

_OURS = frozenset({"host", "content-length", "transfer-encoding", "connection", "accept-encoding"})

_Found = tuple[socket.AddressFamily, str, tuple[object, ...]]  # family, numeric address, what connect() takes


class ReceiverUnreachable(Exception):
    """No complete answer came. `reason` is short, free of the receiver's own text, safe to store and show."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


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
    """What the receiver said, with any status. `excerpt` is the first 500 characters, without NUL."""

    status: int
    headers: Mapping[str, str]
    excerpt: str
    elapsed_ms: int


@dataclass(frozen=True, slots=True)
class Policy:
    """What may be called and how long it may take. `allow_private`, for tests and development, allows any address
    and any port, and http to this machine itself; `also_allow` allows these alone, written in the URL as they are,
    not a name that leads there. `ca_bundle` is a PEM file that replaces the public authorities."""

    allow_private: bool = False
    also_allow: frozenset[tuple[str, int]] = frozenset()
    ports: frozenset[int] = frozenset({443, 8443})
    ca_bundle: str | None = None
    timeout_s: int = 10
    max_read_bytes: int = 65536

    def target(self, url: str) -> VettedUrl:
        """Return where the URL leads; raises `UrlRefused`, but does not look up a name."""
        if self.allow_private:
            return addresses.parse_url(url, ports=None, allow_plain=True)
        if self.also_allow and self.allows(found := addresses.parse_url(url, ports=None)):
            return found
        return addresses.parse_url(url, ports=self.ports)

    def allows(self, target: VettedUrl) -> bool:
        """Say whether this target may be called wherever its host leads."""
        return self.allow_private or (target.host, target.port) in self.also_allow


def check_url(url: str, policy: Policy) -> None:
    """Raise `UrlRefused` when this URL may not be stored; takes a second at most, even when name servers do not answer.

    A name without an answer passes, and so does a name that meets too many others in waiting: sending checks again.
    """
    target = policy.target(url)
    if policy.allows(target):
        return
    with suppress(OSError):
        _check_public(_found_early(target))


class Client:
    """Calls customers' URLs; shared by all threads of a process and safe to create before a fork."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._tls = ssl.create_default_context(cafile=policy.ca_bundle or certifi.where())
        self._tls.set_alpn_protocols(["http/1.1"])
        self._idle = IdleWires()

    def post(self, url: str, *, body: bytes, headers: Mapping[str, str]) -> Answer:
        """Send one POST and return the answer; a 3xx or 5xx is an answer.

        Raises `UrlRefused`, before any packet, when the URL or any address of its host is not allowed, and
        `ReceiverUnreachable` when no complete answer came within the policy's time. Never sends twice: a kept
        connection is replaced only if it proves dead before a byte of the request was on it. Whether a cut-off request
        was acted upon is unknown.
        """
        started = monotonic()
        status, values, content = self.ask("POST", url, body=body, headers=headers)
        return Answer(status, values, _excerpt(content), int((monotonic() - started) * 1000))

    def ask(self, method: str, url: str, *, body: bytes, headers: Mapping[str, str]) -> tuple[int, Headers, bytearray]:
        """Send one request and return status, headers and as much of the body as the policy lets in.

        Raises as `post`, and ValueError for a header that cannot be sent.
        """
        deadline = monotonic() + self._policy.timeout_s
        target = self._policy.target(url)
        request = _request(method, target, body, headers)
        with spans.call("call to a customer's server", method) as span:
            try:
                status, values, content = self._send(target, request, deadline)
            except OSError as error:
                raise ReceiverUnreachable(_reason(error, self._policy.timeout_s)) from error
            span.tell(status=status)
        return status, Headers(values), content

    def close(self) -> None:
        """Close the idle connections. A later post opens new ones."""
        self._own_idle().close()

    def _send(self, target: VettedUrl, request: bytes, deadline: float) -> Reply:
        kept = self._kept(target, deadline)
        if kept is not None:
            try:
                return self._exchange(kept, request, deadline)
            except OSError as error:
                if kept.has_sent or isinstance(error, TimeoutError):
                    raise
        return self._exchange(self._open(target, deadline), request, deadline)

    def _exchange(self, wire: HttpWire, request: bytes, deadline: float) -> Reply:
        try:
            wire.send(request, deadline)
            reply, is_reusable = read_answer(wire, self._policy.max_read_bytes)
        except BaseException:  # also a time limit raised into this thread: the wire is in mid-answer
            wire.close()
            raise
        if is_reusable:
            self._own_idle().put(wire)
        else:
            wire.close()
        return reply

    def _open(self, target: VettedUrl, deadline: float) -> HttpWire:
        found = _vetted(target, self._policy, deadline)
        peer, plain = _connect(found[:_MAX_TRIES], deadline)
        try:
            plain.settimeout(left_s(deadline))
            used = plain if target.is_plain else self._tls.wrap_socket(plain, server_hostname=target.host)
        except BaseException:
            plain.close()
            raise
        return HttpWire(used, _key(target), peer, vetted_at=monotonic())

    def _kept(self, target: VettedUrl, deadline: float) -> HttpWire | None:
        """Take an idle connection whose peer is, or is again found to be, an allowed address of the host."""
        wire = self._own_idle().take(_key(target))
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

    def _own_idle(self) -> IdleWires:
        idle = self._idle
        if idle.pid == os.getpid():
            return idle
        self._idle = IdleWires()
        idle.abandon()
        return self._idle


def _vetted(target: VettedUrl, policy: Policy, deadline: float) -> list[_Found]:
    """Resolve the host once and return its addresses, all of them allowed. Raises `UrlRefused` and OSError."""
    found = _resolve(target, left_s(deadline))
    if not policy.allows(target):
        _check_public(found)
    if target.is_plain and not all(addresses.is_loopback(address) for _, address, _ in found):
        raise UrlRefused("https_required", "Without https only this machine itself may be told.")
    return found


def _check_public(found: list[_Found]) -> None:
    if not all(addresses.is_public(address) for _, address, _ in found):
        raise UrlRefused("url_not_allowed", "The URL's host must have public addresses only.")


def _found_early(target: VettedUrl) -> list[_Found]:
    """Resolve the host within a second, or raise TimeoutError; at once where nobody can be spared to wait."""
    if not target.is_name:
        return _asked(target)
    if not _askers.acquire(blocking=False):
        raise TimeoutError
    return _resolve(target, _EARLY_S, afterwards=_askers.release)


def _resolve(target: VettedUrl, within_s: float, afterwards: Callable[[], None] | None = None) -> list[_Found]:
    """Ask DNS from a thread of its own: getaddrinfo knows no timeout and the name server may be the receiver's.

    `afterwards` is called in that thread, which may be long after its answer was waited for.
    """
    answer: Future[list[_Found]] = Future()

    def ask() -> None:
        try:
            answer.set_result(_asked(target))
        except Exception as error:
            answer.set_exception(error)
        finally:
            if afterwards is not None:
                afterwards()

    threading.Thread(target=ask, name="resolve", daemon=True).start()
    return answer.result(within_s)


def _asked(target: VettedUrl) -> list[_Found]:
    found = socket.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM)
    return [(family, str(sockaddr[0]), sockaddr) for family, _, _, _, sockaddr in found]


def _key(target: VettedUrl) -> Key:
    return target.host, target.port, target.is_plain


def _connect(found: list[_Found], deadline: float) -> tuple[str, socket.socket]:
    """Connect to the first address that answers; each gets an equal share of the time that is left."""
    failure = OSError()
    for position, (family, address, sockaddr) in enumerate(found):
        sock = socket.socket(family, socket.SOCK_STREAM)
        try:
            sock.settimeout(left_s(deadline) / (len(found) - position))
            sock.connect(sockaddr)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return address, sock
        except OSError as error:
            sock.close()
            failure = error
    raise failure


def _request(method: str, target: VettedUrl, body: bytes, headers: Mapping[str, str]) -> bytes:
    lines = [
        f"{method} {target.path} HTTP/1.1",
        f"Host: {target.authority}",
        "Accept-Encoding: identity",
        f"Content-Length: {len(body)}",
    ]
    for name, value in headers.items():
        if not TOKEN.fullmatch(name) or name.lower() in _OURS or CONTROL.search(value):
            raise ValueError(f"header {name!r} cannot be sent")
        lines.append(f"{name}: {value}")
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


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
        case Closed():
            return "the connection was closed before the answer was complete"
        case Malformed():
            return "the answer is not valid HTTP/1.1"
        case Full():
            return "the answer's headers are too large"
    return os.strerror(error.errno).lower() if error.errno else "the connection failed"
