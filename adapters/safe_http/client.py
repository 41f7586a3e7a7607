"""Calls URLs that customers gave us; the only way to do so.

It uses ssl sockets, not requests: for the pinned address, a deadline of the whole call and less CPU per request. It
follows no redirect and uses no proxy, netrc, cookie or content coding. `addresses` has the URL rules.
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
from adapters.safe_http.connection import (
    CONTROL,
    TOKEN,
    BodyTooLarge,
    Closed,
    ConnectionPool,
    HttpConnection,
    Key,
    Malformed,
    Reply,
    TooLarge,
    read_response,
    remaining_s,
)
from adapters.tracing import spans

_EXCERPT_CHARACTERS = 500
_MAX_TRIES = 4  # addresses of one name; each gets its share of the time left
_VETTED_S = 60
# Time limit of resolving a URL that is being stored, and how many of a process may wait: web threads are few.
_EARLY_S = 1.0
_early_slots = threading.BoundedSemaphore(2)

_RESERVED_HEADERS = frozenset({"host", "content-length", "transfer-encoding", "connection", "accept-encoding"})

_Resolved = tuple[socket.AddressFamily, str, tuple[object, ...]]  # family, numeric address, argument of connect()


class ReceiverUnreachable(Exception):
    """There was no complete response. `reason` is short, without the receiver's text, safe to store and show."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class ResponseTooLarge(ReceiverUnreachable):
    """The body is larger than a policy with `refuses_larger` allows."""


class Headers(Mapping[str, str]):
    """Header values by case-insensitive name; values of a repeated header are joined with a comma."""

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
class Response:
    """The receiver's response, with any status. `excerpt` is the first 500 characters, without NUL."""

    status: int
    headers: Mapping[str, str]
    excerpt: str
    elapsed_ms: int


@dataclass(frozen=True, slots=True)
class Policy:
    """The URLs that may be called, and the limits of a call. `allow_private`, for tests and development, allows any
    address and port, and http to this machine itself; `also_allow` allows these addresses, as literals in the URL, not
    by name. `ca_bundle` is a PEM file that replaces the public authorities. A body of more than `max_read_bytes` is cut
    off, or with `refuses_larger` an error."""

    allow_private: bool = False
    also_allow: frozenset[tuple[str, int]] = frozenset()
    ports: frozenset[int] = frozenset({443, 8443})
    ca_bundle: str | None = None
    timeout_s: int = 10
    max_read_bytes: int = 65536
    refuses_larger: bool = False

    def target(self, url: str) -> VettedUrl:
        """Return the parsed URL; raises `UrlRefused`, but does not resolve a name."""
        if self.allow_private:
            return addresses.parse_url(url, ports=None, allow_plain=True)
        if self.also_allow and self.allows(target := addresses.parse_url(url, ports=None)):
            return target
        return addresses.parse_url(url, ports=self.ports)

    def allows(self, target: VettedUrl) -> bool:
        """Return whether this target may be called whatever address its host has."""
        return self.allow_private or (target.host, target.port) in self.also_allow


def check_url(url: str, policy: Policy) -> None:
    """Raise `UrlRefused` if this URL may not be stored; takes at most a second, even if name servers do not respond.

    An unresolved name passes, also if too many others are being resolved: sending checks again.
    """
    target = policy.target(url)
    if policy.allows(target):
        return
    with suppress(OSError):
        _check_public(_resolve_early(target))


class Client:
    """Calls customers' URLs; shared by all threads of a process, and safe to create before a fork."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._tls = ssl.create_default_context(cafile=policy.ca_bundle or certifi.where())
        self._tls.set_alpn_protocols(["http/1.1"])
        self._idle = ConnectionPool()

    def post(self, url: str, *, body: bytes, headers: Mapping[str, str]) -> Response:
        """Send one POST and return the response, with any status.

        Raises `UrlRefused`, before any packet, if the URL or any address of its host is not allowed, and
        `ReceiverUnreachable` without a complete response within the policy's time. Never sends twice: a reused
        connection is replaced only if it fails before a byte of the request was sent. It is unknown whether the
        receiver processed a cut-off request.
        """
        started = monotonic()
        status, values, content = self.ask("POST", url, body=body, headers=headers)
        return Response(status, values, _excerpt(content), int((monotonic() - started) * 1000))

    def ask(self, method: str, url: str, *, body: bytes, headers: Mapping[str, str]) -> tuple[int, Headers, bytearray]:
        """Send one request and return status, headers and as much of the body as the policy allows.

        Raises as `post`, and ValueError for a header that cannot be sent.
        """
        deadline = monotonic() + self._policy.timeout_s
        target = self._policy.target(url)
        request = _build_request(method, target, body, headers)
        with spans.call("call to a customer's server", method) as span:
            try:
                status, values, content = self._send(target, request, deadline)
            except BodyTooLarge as error:
                raise ResponseTooLarge("the response is too large") from error
            except OSError as error:
                raise ReceiverUnreachable(_describe_error(error, self._policy.timeout_s)) from error
            span.set_attributes(status=status)
        return status, Headers(values), content

    def close(self) -> None:
        """Close the idle connections. A later post opens new ones."""
        self._own_idle().close()

    def _send(self, target: VettedUrl, request: bytes, deadline: float) -> Reply:
        reused = self._take_idle(target, deadline)
        if reused is not None:
            try:
                return self._exchange(reused, request, deadline)
            except OSError as error:
                if reused.has_sent or isinstance(error, TimeoutError):
                    raise
        return self._exchange(self._open(target, deadline), request, deadline)

    def _exchange(self, connection: HttpConnection, request: bytes, deadline: float) -> Reply:
        try:
            connection.send(request, deadline)
            policy = self._policy
            reply, is_reusable = read_response(connection, policy.max_read_bytes, cuts_body=not policy.refuses_larger)
        except BaseException:  # also a time limit raised into this thread: the response is incomplete
            connection.close()
            raise
        if is_reusable:
            self._own_idle().put(connection)
        else:
            connection.close()
        return reply

    def _open(self, target: VettedUrl, deadline: float) -> HttpConnection:
        resolved = _resolve_vetted(target, self._policy, deadline)
        peer, plain = _connect(resolved[:_MAX_TRIES], deadline)
        try:
            plain.settimeout(remaining_s(deadline))
            used = plain if target.is_plain else self._tls.wrap_socket(plain, server_hostname=target.host)
        except BaseException:
            plain.close()
            raise
        return HttpConnection(used, _key(target), peer, vetted_at=monotonic())

    def _take_idle(self, target: VettedUrl, deadline: float) -> HttpConnection | None:
        """Take an idle connection whose peer is still an allowed address of the host, checked again after a minute."""
        connection = self._own_idle().take(_key(target))
        if connection is None or monotonic() - connection.vetted_at < _VETTED_S:
            return connection
        try:
            is_still_allowed = connection.peer in [
                address for _, address, _ in _resolve_vetted(target, self._policy, deadline)
            ]
        except BaseException:
            connection.close()
            raise
        if not is_still_allowed:
            connection.close()
            return None
        connection.vetted_at = monotonic()
        return connection

    def _own_idle(self) -> ConnectionPool:
        idle = self._idle
        if idle.pid == os.getpid():
            return idle
        self._idle = ConnectionPool()
        idle.abandon()
        return self._idle


def _resolve_vetted(target: VettedUrl, policy: Policy, deadline: float) -> list[_Resolved]:
    """Resolve the host once and return its addresses if all are allowed. Raises `UrlRefused` and OSError."""
    resolved = _resolve(target, remaining_s(deadline))
    if not policy.allows(target):
        _check_public(resolved)
    if target.is_plain and not all(addresses.is_loopback(address) for _, address, _ in resolved):
        raise UrlRefused("https_required", "Without https only this machine itself may be called.")
    return resolved


def _check_public(resolved: list[_Resolved]) -> None:
    if not all(addresses.is_public(address) for _, address, _ in resolved):
        raise UrlRefused("url_not_allowed", "The URL's host must have public addresses only.")


def _resolve_early(target: VettedUrl) -> list[_Resolved]:
    """Resolve the host within a second, or raise TimeoutError; at once if too many callers wait."""
    if not target.is_name:
        return _resolve_blocking(target)
    if not _early_slots.acquire(blocking=False):
        raise TimeoutError
    return _resolve(target, _EARLY_S, afterwards=_early_slots.release)


def _resolve(target: VettedUrl, within_s: float, afterwards: Callable[[], None] | None = None) -> list[_Resolved]:
    """Resolve in a separate thread: getaddrinfo has no timeout and the name server may be the receiver's.

    `afterwards` is called in that thread, possibly long after the caller's timeout.
    """
    answer: Future[list[_Resolved]] = Future()

    def ask() -> None:
        try:
            answer.set_result(_resolve_blocking(target))
        except Exception as error:
            answer.set_exception(error)
        finally:
            if afterwards is not None:
                afterwards()

    threading.Thread(target=ask, name="resolve", daemon=True).start()
    return answer.result(within_s)


def _resolve_blocking(target: VettedUrl) -> list[_Resolved]:
    infos = socket.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM)
    return [(family, str(sockaddr[0]), sockaddr) for family, _, _, _, sockaddr in infos]


def _key(target: VettedUrl) -> Key:
    return target.host, target.port, target.is_plain


def _connect(resolved: list[_Resolved], deadline: float) -> tuple[str, socket.socket]:
    """Connect to the first address that accepts; each gets an equal share of the remaining time."""
    failure = OSError()
    for position, (family, address, sockaddr) in enumerate(resolved):
        sock = socket.socket(family, socket.SOCK_STREAM)
        try:
            sock.settimeout(remaining_s(deadline) / (len(resolved) - position))
            sock.connect(sockaddr)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return address, sock
        except OSError as error:
            sock.close()
            failure = error
    raise failure


def _build_request(method: str, target: VettedUrl, body: bytes, headers: Mapping[str, str]) -> bytes:
    lines = [
        f"{method} {target.path} HTTP/1.1",
        f"Host: {target.authority}",
        "Accept-Encoding: identity",
        f"Content-Length: {len(body)}",
    ]
    for name, value in headers.items():
        if not TOKEN.fullmatch(name) or name.lower() in _RESERVED_HEADERS or CONTROL.search(value):
            raise ValueError(f"header {name!r} cannot be sent")
        lines.append(f"{name}: {value}")
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


def _excerpt(body: bytearray) -> str:
    few = bytes(body).replace(b"\0", b"")[: 4 * _EXCERPT_CHARACTERS]  # a character takes at most four bytes
    return few.decode("utf-8", "replace")[:_EXCERPT_CHARACTERS]


def _describe_error(error: OSError, timeout_s: int) -> str:
    match error:
        case TimeoutError():
            return f"no complete response within {timeout_s} s"
        case socket.gaierror():
            return "the host name does not resolve"
        case ssl.SSLCertVerificationError():
            return f"TLS certificate refused: {error.verify_message}"
        case ssl.SSLError():
            return f"TLS failed: {(error.reason or 'unknown').replace('_', ' ').lower()}"
        case Closed():
            return "the connection was closed before the response was complete"
        case Malformed():
            return "the response is not valid HTTP/1.1"
        case TooLarge():
            return "the response's headers are too large"
    return os.strerror(error.errno).lower() if error.errno else "the connection failed"
