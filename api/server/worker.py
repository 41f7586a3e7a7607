"""gunicorn's worker: an event loop that reads whole requests, and threads that never wait for a client.

The loop accepts, reads and checks deadlines. A complete request goes to a thread, which parses it from memory, runs the
application and sends as much as the client takes at once; the loop sends the rest. So a client that sends, reads or
idles slowly costs a socket and its bytes, and no thread. When sockets or bytes run out, the connections whose requests
have been arriving for the longest are closed first: an honest client's request arrives in milliseconds.
"""

import errno
import math
import selectors
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

import structlog
from gunicorn.http.errors import NoMoreData
from gunicorn.workers.gthread import ThreadWorker

import settings
from api.edge import metrics
from api.server import client_limit, refusals
from api.server.connection import Connection, State
from api.server.fast_path import FastPath
from api.server.framing import KIB, RequestBytes
from api.server.refusals import Refusal

_log = structlog.get_logger("server")

# Larger bodies get the upload timeout.
_BULKY_BYTES = 64 * KIB
# A large answer may take the answer timeout once more for each unit of this size.
_ANSWER_UNIT_BYTES = 1024 * KIB
# Closing immediately would discard an answer in transit if the client is still sending.
_LINGER_S = 2.0
# How long a stopping worker keeps idle connections: a request may be in transit.
_LAST_REQUEST_S = 2.0
# The memory in this process for requests that are arriving, and for large ones that wait for a thread or run in one.
_MAX_HELD_BYTES = 64 * 1024 * KIB
_RECV_BYTES = 64 * KIB
_MAX_ACCEPTS = 64
_CHECK_INTERVAL_S = 1.0
# The pause after running out of descriptors or memory, so that the loop does not spin.
_PAUSE_S = 0.01
_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


class EventLoopWorker(ThreadWorker):
    """The event loop, and the work of its threads."""

    @classmethod
    def check_config(cls, cfg: Any, log: Any) -> None:
        """Exit if TLS or the proxy protocol is configured: they belong to the server in front."""
        if cfg.is_ssl or cfg.proxy_protocol != "off":
            raise SystemExit("finderfee: TLS and the proxy protocol are for the server in front; see docs/deploy.md")

    def init_process(self) -> None:
        """Initialize the loop; called in the forked process."""
        self._open: set[Connection] = set()
        self._held_bytes = 0
        self._checked_at = 0.0
        web = settings.current().web
        self._request_s, self._upload_s = web.timeouts_s["request"], web.timeouts_s["upload"]
        self._answer_s = web.timeouts_s["answer"]
        self._max_clients = client_limit.max_clients(self.cfg.worker_connections)
        super().init_process()

    def run(self) -> None:
        """Serve requests until the worker is stopped, then finish those that have begun."""
        self._fast_path = FastPath(self, getattr(self.wsgi, "extensions", {}).get("fast_path"))
        self.poller.register(self.method_queue.fileno(), selectors.EVENT_READ, self.method_queue.run_callbacks)
        self.set_accept_enabled(True)
        while self.alive:
            self._run_iteration()
            if not self.is_parent_alive():
                break
        self._drain()
        self.tpool.shutdown(wait=False)
        self.poller.close()
        self.method_queue.close()
        for listener in self.sockets:
            listener.close()

    def accept(self, listener: socket.socket) -> None:
        """Accept the waiting connections and read their requests, which have usually arrived already."""
        for _ in range(_MAX_ACCEPTS):
            try:
                sock, address = listener.accept()
            except OSError as error:
                if error.errno in (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM):
                    time.sleep(_PAUSE_S)
                    self._make_room()
                elif error.errno not in (errno.EAGAIN, errno.EWOULDBLOCK, errno.ECONNABORTED):
                    raise
                return
            if len(self._open) >= self._max_clients:
                self._make_room()
            sock.setblocking(False)
            conn = Connection(sock, address, listener.getsockname(), self.cfg)
            self._open.add(conn)
            now = time.monotonic()
            conn.begin(b"", now=now, deadline=now + self._request_s)
            self._read(conn)

    def handle(self, conn: Connection) -> bool:
        """Run the application on a complete request; return whether the connection stays open for another."""
        try:
            return self.handle_request(conn.parse(), conn) and conn.has_read_all()
        except (NoMoreData, StopIteration):
            return False
        except OSError as error:
            _log.debug("connection.lost", error=str(error))
            return False
        except Exception as error:
            self.answer_error(conn, error)
            return False

    def submit(self, conn: Connection, rest: bytes) -> None:
        """Run the application on a request in a thread."""
        self.tpool.submit(self._serve, conn, rest)

    def count(self, response: Any) -> None:
        """Count a request as gunicorn does: the worker is replaced after `max_requests`."""
        self.nr += 1
        if self.nr >= self.max_requests:
            self.alive = False
        if not self.alive:
            response.force_close()

    # The methods below run in the loop, except `_serve` and `answer_error`.

    def finish(self, conn: Connection, rest: bytes, *, keep_alive: bool) -> None:
        """Send a response of the fast path, and wait for the next request."""
        with self._closing_on_error(conn):
            conn.sock.clear()
            conn.sock.outbox.push(conn.wrapped)
            self._finish_request(conn, keep_alive, rest)

    def _run_iteration(self, wait_s: float = _CHECK_INTERVAL_S) -> None:
        self.notify()
        self.wait_for_and_dispatch_events(self._fast_path.limit_wait(wait_s))
        self._fast_path.end_iteration()
        now = time.monotonic()
        if now - self._checked_at >= _CHECK_INTERVAL_S or wait_s < _CHECK_INTERVAL_S:
            self._checked_at = now
            for conn in [conn for conn in self._open if conn.deadline <= now and conn.state is not State.BUSY]:
                self._time_out(conn)

    def _read(self, conn: Connection) -> None:
        with conn.lock:
            if conn.state is State.BUSY:  # more data, or a hang-up: either can wait until the request is answered
                conn.is_parked = True
                self._watch(conn, 0)
                return
        with self._closing_on_error(conn):
            try:
                data = conn.wrapped.recv(_RECV_BYTES)
            except BlockingIOError:
                self._watch(conn, selectors.EVENT_READ)
                return
            if not data:
                self._drop(conn)
            elif conn.state is State.ARRIVING:
                if not len(conn.message):
                    now = time.monotonic()
                    conn.since, conn.deadline = now, now + self._request_s
                conn.message.add(data)
                self._held_bytes += len(data)
                self._advance(conn)

    def _advance(self, conn: Connection) -> None:
        message = conn.message
        if message.has_too_large_head:
            self._refuse(conn, refusals.HEAD_TOO_LARGE)
        elif message.has_too_large_body:
            self._refuse(conn, refusals.BODY_TOO_LARGE)
        elif message.has_too_many_chunks:
            self._refuse(conn, refusals.TOO_MANY_CHUNKS)
        elif message.is_whole:
            self._dispatch(conn)
        else:
            if message.has_head and message.expects_continue and not conn.has_sent_continue:
                conn.has_sent_continue = True
                conn.wrapped.send(_CONTINUE)
            if not conn.is_bulky and max(message.declared_bytes, len(message)) > _BULKY_BYTES:
                conn.is_bulky = True
                conn.deadline = conn.since + self._upload_s
            self._watch(conn, selectors.EVENT_READ)
            if self._held_bytes > _MAX_HELD_BYTES:
                self._make_room(bulky=True)

    def _dispatch(self, conn: Connection) -> None:
        request, rest = conn.message.split()
        is_chunked = conn.message.is_chunked
        self._held_bytes -= len(conn.message)
        conn.message = RequestBytes()  # its bytes have been copied
        if conn.is_bulky:
            conn.dispatched_bytes = len(request)
            self._held_bytes += conn.dispatched_bytes
        conn.sock.load(request)
        with conn.lock:
            conn.state, conn.deadline, conn.is_parked = State.BUSY, math.inf, False
        if not self._fast_path.accept(conn, request, rest, is_chunked=is_chunked):
            self.submit(conn, rest)

    def _serve(self, conn: Connection, rest: bytes) -> None:
        """Answer a request in a thread; the loop takes over if bytes, requests or the connection's end remain."""
        try:
            keep_alive = self.handle(conn)
            conn.sock.clear()
            is_sent = conn.sock.outbox.push(conn.wrapped)
        except OSError:
            self.method_queue.defer(self._drop, conn)
            return
        if keep_alive and is_sent and not rest and self.alive and not conn.is_bulky:
            with conn.lock:
                if not conn.is_parked and conn.watched == selectors.EVENT_READ:
                    now = time.monotonic()
                    conn.begin(b"", now=now, deadline=now + self.cfg.keepalive)
                    return
        self.method_queue.defer(self._finish_request, conn, keep_alive, rest)

    def _finish_request(self, conn: Connection, keep_alive: bool, rest: bytes) -> None:
        self._held_bytes, conn.dispatched_bytes = self._held_bytes - conn.dispatched_bytes, 0
        with self._closing_on_error(conn):
            if conn.sock.outbox.bytes:
                now = time.monotonic()
                conn.state, conn.deadline = State.LEAVING, now + self._answer_s
                conn.final_deadline = now + self._answer_s * (1 + conn.sock.outbox.bytes // _ANSWER_UNIT_BYTES)
                self._watch(conn, selectors.EVENT_WRITE, partial(self._send_rest, conn, keep_alive, rest))
            elif keep_alive:
                self._await_next(conn, rest)
            elif rest or conn.is_parked or not conn.sock.is_read:
                self._linger(conn)
            else:
                self._drop(conn)

    def _send_rest(self, conn: Connection, keep_alive: bool, rest: bytes, _: object) -> None:
        with self._closing_on_error(conn):
            before = conn.sock.outbox.bytes
            if conn.sock.outbox.push(conn.wrapped):
                self._watch(conn, 0)
                self._finish_request(conn, keep_alive, rest)
            elif conn.sock.outbox.bytes < before:
                conn.deadline = min(time.monotonic() + self._answer_s, conn.final_deadline)

    def _await_next(self, conn: Connection, rest: bytes) -> None:
        now = time.monotonic()
        idle_s = self.cfg.keepalive if self.alive else _LAST_REQUEST_S
        conn.begin(rest, now=now, deadline=now + (self._request_s if rest else idle_s))
        if rest:
            self._held_bytes += len(rest)
            self._advance(conn)
        else:
            self._watch(conn, selectors.EVENT_READ)

    def _refuse(self, conn: Connection, refusal: Refusal) -> None:
        metrics.count_refused_connection(refusal.code)
        self._held_bytes -= len(conn.message)
        conn.begin(b"", now=time.monotonic(), deadline=math.inf)
        with self._closing_on_error(conn):
            with suppress(BlockingIOError):  # the client does not read
                conn.wrapped.send(refusal.answer())
            self._linger(conn)

    def _linger(self, conn: Connection) -> None:
        with self._closing_on_error(conn):
            conn.wrapped.shutdown(socket.SHUT_WR)
            conn.state = State.LINGERING
            conn.deadline = time.monotonic() + _LINGER_S
            self._watch(conn, selectors.EVENT_READ)

    def _time_out(self, conn: Connection) -> None:
        if conn.state is State.ARRIVING and len(conn.message):
            self._refuse(conn, refusals.LATE)
        else:
            self._drop(conn)

    def _make_room(self, *, bulky: bool = False) -> None:
        """Close a sixteenth of the connections, those whose requests began first; with `bulky`, only large requests.

        If there are no large requests, many small ones fill the memory, and they are closed instead.
        """
        arriving = [conn for conn in self._open if conn.state is not State.BUSY and (conn.is_bulky or not bulky)]
        if bulky and not arriving:
            arriving = [conn for conn in self._open if conn.state is State.ARRIVING and len(conn.message)]
        arriving.sort(key=lambda conn: conn.since)
        for conn in arriving[: len(arriving) // 16 + 1]:
            metrics.count_refused_connection("no_room")
            self._drop(conn)

    def _watch(self, conn: Connection, events: int, then: Any = None) -> None:
        if conn.watched == events:
            return
        if conn.watched:
            self.poller.unregister(conn.wrapped)
        conn.watched = events
        if events:
            self.poller.register(conn.wrapped, events, then or (lambda _: self._read(conn)))

    def _drop(self, conn: Connection) -> None:
        if conn not in self._open:
            return
        self._open.discard(conn)
        if conn.state is State.ARRIVING:
            self._held_bytes -= len(conn.message)
        self._held_bytes, conn.dispatched_bytes = self._held_bytes - conn.dispatched_bytes, 0
        self._watch(conn, 0)
        conn.sock.outbox.close()
        conn.wrapped.close()

    @contextmanager
    def _closing_on_error(self, conn: Connection) -> Iterator[None]:
        """Close the connection if the block raises."""
        try:
            yield
        except OSError:
            self._drop(conn)
        except Exception as error:  # an error with one client must not affect the others
            _log.error("connection.failed", exc_info=error)
            self._drop(conn)

    def _drain(self) -> None:
        self.set_accept_enabled(False)
        now = time.monotonic()
        for conn in self._open:
            if conn.state is State.ARRIVING and not len(conn.message):
                conn.deadline = min(conn.deadline, now + _LAST_REQUEST_S)
        until = now + self.cfg.graceful_timeout
        while self._open and time.monotonic() < until:
            self._run_iteration(_CHECK_INTERVAL_S / 10)

    def answer_error(self, conn: Connection, error: Exception) -> None:
        """Answer a request that is malformed, or that failed with an internal error. In any thread."""
        refusal = refusals.find_refusal(error)
        if refusal is None:
            _log.error("request.failed", exc_info=error)
            if not conn.sock.outbox.bytes:
                conn.sock.sendall(refusals.FAILED.answer())
            return
        metrics.count_refused_connection(refusal.code)
        _log.warning("request.malformed", status=refusal.status, error=type(error).__name__)
        conn.sock.sendall(refusal.answer())
