"""One client: what has arrived from it, what is on its way to it, and until when it has time."""

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

# As much as a streamed answer gathers before some of it is sent; most answers go out whole, in one system call.
_GATHERED_BYTES = 64 * KIB
_HTTP_1_1 = (1, 1)
# A host name or address with or without a port (RFC 3986): no user name, path, space or list.
_HOST = re.compile(r"[A-Za-z0-9._~!$&'()*+;=%:\[\]-]*")
# Linux reports by POLLRDHUP that the peer has closed its side; elsewhere only the end of both sides is reported.
_CLOSED = getattr(select, "POLLRDHUP", 0) | select.POLLHUP | select.POLLERR | select.POLLNVAL


class State(enum.Enum):
    """What a connection is doing."""

    ARRIVING = enum.auto()  # its next request comes in, or it is idle: no thread is spent on it
    BUSY = enum.auto()  # a thread has its request
    LEAVING = enum.auto()  # the thread is done, and the client has yet to read the rest of the answer
    LINGERING = enum.auto()  # it was answered before all was read; what still comes is thrown away


class ClientWire:
    """What the parser and the response take for the client's socket. Neither of them ever waits on it."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self.outbox = Outbox()
        self._request = b""
        self._length = self._read = 0
        #: What the fast path knows about this request that it could not finish; read by the application.
        self.handover: object | None = None

    def give(self, request: bytes) -> None:
        """Let the parser read a whole request."""
        self._request, self._length, self._read, self.handover = request, len(request), 0, None

    def rewind(self) -> None:
        """Let the request be read from its beginning again."""
        self._read = 0

    def let_go(self) -> None:
        """Keep nothing of a request that was answered: its connection may stay for long, and its body may be large."""
        self._request, self.handover = b"", None

    @property
    def is_read(self) -> bool:
        """Say whether the parser has read the request to its end."""
        return self._read == self._length

    def recv(self, most: int) -> bytes:
        """Return bytes of the request; none when it is at its end."""
        data = self._request[self._read : self._read + most]
        self._read += len(data)
        return data

    def sendall(self, data: bytes) -> None:
        """Take bytes of the answer."""
        self.outbox.put(data)
        if self.outbox.bytes > _GATHERED_BYTES:
            self.outbox.push(self._sock)

    def send(self, data: bytes) -> int:
        """Take bytes of the answer, all of them."""
        self.sendall(data)
        return len(data)

    def has_client_left(self) -> bool:
        """Return whether the client has closed its side of the connection. In any thread; does not wait."""
        poll = select.poll()
        poll.register(self._sock, _CLOSED)
        return bool(poll.poll(0))

    def shutdown(self, how: int) -> None:
        """Be asked to say that nothing more comes, which closing does."""

    def settimeout(self, seconds: float | None) -> None:
        """Be asked to wait no longer than this, which a wire never does."""

    def gettimeout(self) -> float:
        """Return how long a wire waits."""
        return 0.0

    def close(self) -> None:
        """Be asked to close, which is the loop's to do."""


class Connection:
    """A client's connection as the loop and one thread at a time hold it.

    `sock`, `client` and `server` are what gunicorn's code reads of it; `sock` is the wire.
    """

    def __init__(self, wrapped: socket.socket, client: Any, server: Any, cfg: Any) -> None:
        self.wrapped = wrapped
        self.sock = ClientWire(wrapped)
        self.client = client
        self.server = server
        self._cfg = cfg
        self.parser = http.get_parser(cfg, self.sock, client)
        self.state = State.ARRIVING
        self.message = RequestBytes()
        #: When the present state began and when it must have ended, by the monotonic clock.
        self.since = 0.0
        self.deadline = math.inf
        #: When the client must have taken the whole of an answer that is leaving, however steadily it takes a little.
        self.taken_by = math.inf
        #: Which events the poller looks for; 0 while it does not look at this connection.
        self.watched = 0
        #: Held by the thread that changes the state between BUSY and another.
        self.lock = threading.Lock()
        #: Says whether the loop looked away because something came while a thread was at work.
        self.is_parked = False
        self.has_been_told_to_go_ahead = False
        self.is_bulky = False
        #: How many bytes of the worker's memory its request takes while a thread has it; only large ones are counted.
        self.in_hand = 0

    def begin(self, rest: bytes, *, now: float, deadline: float) -> None:
        """Wait for the next request, of which `rest` is here already."""
        self.message = RequestBytes()
        self.has_been_told_to_go_ahead = self.is_bulky = False
        self.since, self.deadline = now, deadline
        self.state = State.ARRIVING
        if rest:
            self.message.add(rest)

    def parsed(self) -> Any:
        """Return the request that is here. Raises what the parser does for one that is malformed."""
        request = next(self.parser)
        _check_head(request)
        request._expected_100_continue = False  # the loop has told the client, if it asked
        _read_chunks(request)
        return request

    def rewind(self) -> None:
        """Let the request be parsed again, by a parser that knows nothing of it yet."""
        self.sock.rewind()
        self.parser = http.get_parser(self._cfg, self.sock, self.client)

    def has_read_all(self) -> bool:
        """Say whether the parser is exactly where the request ends. If not, it is not known where the next begins."""
        return self.parser.finish_body() and self.sock.is_read and not self.parser.unreader.buf.getvalue()


def _check_head(request: Any) -> None:
    """Refuse what the parser takes and a proxy in front may read otherwise (RFC 9112, sections 3.2 and 6.1)."""
    hosts = [value for name, value in request.headers if name == "HOST"]
    is_missing = not hosts and request.version >= _HTTP_1_1
    if is_missing or len(hosts) > 1 or not all(map(_HOST.fullmatch, hosts)):
        raise InvalidHeader("HOST", req=request)
    codings = [value.strip().lower() for name, value in request.headers if name == "TRANSFER-ENCODING"]
    if codings and codings != ["chunked"]:
        raise InvalidHeader("TRANSFER-ENCODING", req=request)


def _read_chunks(request: Any) -> None:
    """Read a chunked body out of memory now, so that a malformed one is refused before the application is asked."""
    if isinstance(request.body.reader, ChunkedReader):
        body = request.body.read()
        request.body = Body(LengthReader(IterUnreader([body]), len(body)))
