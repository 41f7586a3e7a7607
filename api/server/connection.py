"""One client's connection: received bytes, bytes to send, and deadlines."""

import enum
import math
import re
import select
import socket
import threading
from typing import Any

from gunicorn import http
from gunicorn.http.body import Body, ChunkedReader, LengthReader
from gunicorn.http.errors import InvalidHeader
from gunicorn.http.unreader import IterUnreader

from api.server.framing import KIB, RequestBytes
from api.server.outbox import Outbox

# A streamed answer is sent in parts of this size; most answers go out whole, in one system call.
_GATHERED_BYTES = 64 * KIB
_HTTP_1_1 = (1, 1)
# A host name or address with or without a port (RFC 3986): no user name, path, space or list.
_HOST = re.compile(r"[A-Za-z0-9._~!$&'()*+;=%:\[\]-]*")
# Linux reports by POLLRDHUP that the peer has closed its side; elsewhere only the end of both sides is reported.
_CLOSED = getattr(select, "POLLRDHUP", 0) | select.POLLHUP | select.POLLERR | select.POLLNVAL


class State(enum.Enum):
    """The state of a connection."""

    ARRIVING = enum.auto()  # a request is arriving, or it is idle; it has no thread
    BUSY = enum.auto()  # a thread has its request
    LEAVING = enum.auto()  # the thread is done; the client has yet to read the rest of the answer
    LINGERING = enum.auto()  # it was answered before all was read; more input is discarded


class BufferedSocket:
    """A socket for gunicorn's parser and response that never blocks: input from memory, output to the outbox."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self.outbox = Outbox()
        self._request = b""
        self._length = self._read = 0
        #: What the fast path knows about a request that it could not finish; the application reads it.
        self.handover: object | None = None

    def load(self, request: bytes) -> None:
        """Set the whole request that the parser is to read."""
        self._request, self._length, self._read, self.handover = request, len(request), 0, None

    def rewind(self) -> None:
        """Start reading the request from its beginning again."""
        self._read = 0

    def clear(self) -> None:
        """Forget an answered request: its connection may stay open for long, and its body may be large."""
        self._request, self.handover = b"", None

    @property
    def is_read(self) -> bool:
        """Whether the parser has read the request to its end."""
        return self._read == self._length

    def recv(self, most: int) -> bytes:
        """Return bytes of the request; none at its end."""
        data = self._request[self._read : self._read + most]
        self._read += len(data)
        return data

    def sendall(self, data: bytes) -> None:
        """Add bytes of the answer."""
        self.outbox.put(data)
        if self.outbox.bytes > _GATHERED_BYTES:
            self.outbox.push(self._sock)

    def send(self, data: bytes) -> int:
        """Add bytes of the answer and return their number."""
        self.sendall(data)
        return len(data)

    def has_client_left(self) -> bool:
        """Return whether the client has closed its side of the connection. In any thread; does not wait."""
        poll = select.poll()
        poll.register(self._sock, _CLOSED)
        return bool(poll.poll(0))

    def shutdown(self, how: int) -> None:
        """Do nothing: closing the connection shuts it down."""

    def settimeout(self, seconds: float | None) -> None:
        """Do nothing: no method blocks."""

    def gettimeout(self) -> float:
        """Return the timeout."""
        return 0.0

    def close(self) -> None:
        """Do nothing: the loop closes the connection."""


class Connection:
    """A client's connection, shared by the loop and at most one thread.

    gunicorn's code reads `sock`, `client` and `server`; the real socket is `wrapped`.
    """

    def __init__(self, wrapped: socket.socket, client: Any, server: Any, cfg: Any) -> None:
        self.wrapped = wrapped
        self.sock = BufferedSocket(wrapped)
        self.client = client
        self.server = server
        self._cfg = cfg
        self.parser = http.get_parser(cfg, self.sock, client)
        self.state = State.ARRIVING
        self.message = RequestBytes()
        #: When the current state began and when it must end, by the monotonic clock.
        self.since = 0.0
        self.deadline = math.inf
        #: When the client must have received a whole answer, even if it reads a little all the time.
        self.final_deadline = math.inf
        #: The events that the poller watches for; 0 while the connection is not registered.
        self.watched = 0
        #: Held by the thread that changes the state between BUSY and another.
        self.lock = threading.Lock()
        #: Whether the loop unregistered it because data arrived while a thread was working.
        self.is_parked = False
        self.has_sent_continue = False
        self.is_bulky = False
        #: The size of a large request that waits for a thread or has one; 0 for others.
        self.dispatched_bytes = 0

    def begin(self, rest: bytes, *, now: float, deadline: float) -> None:
        """Wait for the next request, of which `rest` has arrived already."""
        self.message = RequestBytes()
        self.has_sent_continue = self.is_bulky = False
        self.since, self.deadline = now, deadline
        self.state = State.ARRIVING
        if rest:
            self.message.add(rest)

    def parse(self) -> Any:
        """Return the parsed request. Raises the parser's errors for a malformed one."""
        request = next(self.parser)
        _check_head(request)
        request._expected_100_continue = False  # the loop has sent 100 Continue, if requested
        _read_chunks(request)
        return request

    def rewind(self) -> None:
        """Prepare to parse the request again, with a new parser."""
        self.sock.rewind()
        self.parser = http.get_parser(self._cfg, self.sock, self.client)

    def has_read_all(self) -> bool:
        """Return whether the parser is exactly at the end of the request; if not, the next one's start is unknown."""
        return self.parser.finish_body() and self.sock.is_read and not self.parser.unreader.buf.getvalue()


def _check_head(request: Any) -> None:
    """Raise for a head that the parser accepts and a proxy may read differently (RFC 9112, sections 3.2 and 6.1)."""
    hosts = [value for name, value in request.headers if name == "HOST"]
    is_missing = not hosts and request.version >= _HTTP_1_1
    if is_missing or len(hosts) > 1 or not all(map(_HOST.fullmatch, hosts)):
        raise InvalidHeader("HOST", req=request)
    codings = [value.strip().lower() for name, value in request.headers if name == "TRANSFER-ENCODING"]
    if codings and codings != ["chunked"]:
        raise InvalidHeader("TRANSFER-ENCODING", req=request)


def _read_chunks(request: Any) -> None:
    """Read a chunked body from memory now, so that a malformed one is refused before the application runs."""
    if isinstance(request.body.reader, ChunkedReader):
        body = request.body.read()
        request.body = Body(LengthReader(IterUnreader([body]), len(body)))
