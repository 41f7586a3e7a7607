"""The fast path: the event loop answers requests whose only wait is one reply from Redis, without a thread.

A thread costs more than such a request: it is woken for the request, waits, is woken again for the reply, and competes
for the interpreter. Here the calls of one loop iteration go out in one write, and replies that arrive together are
handled together. Every other request goes to the application in a thread, unchanged, and so does every request while
Redis is down. Nothing here may block: the whole worker would wait.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from selectors import EVENT_READ, EVENT_WRITE
from typing import Any, Protocol

from gunicorn.http import wsgi

from adapters import event_loop_redis
from adapters.broker import RedisError
from adapters.event_loop_redis import EventLoopRedis, ScriptCall
from api.server.connection import Connection

# How long after a connection is lost the next is opened.
_RECONNECT_S = 1.0

#: Status, headers and body.
FastResponse = tuple[str, list[tuple[str, str]], bytes]


class FastRequest(Protocol):
    """A request that the application lets the event loop answer. Its methods must not block."""

    def call(self) -> ScriptCall:
        """Return the one call to Redis."""

    def response(self, reply: Any) -> FastResponse | None:
        """Return the response for a reply; None if the application has to answer after all."""

    def hand_over(self, error: RedisError) -> object:
        """Return what the application needs to answer when no reply came; it reads it as `handover`."""


@dataclass(frozen=True, slots=True)
class FastPathEndpoint:
    """The endpoint whose requests the event loop may answer.

    `parse` takes a WSGI environment (the second argument is for middleware around it) and returns None for a request
    that belongs to the application.
    """

    redis_url: str
    request_prefix: bytes
    max_request_bytes: int
    parse: Callable[[dict[str, Any], Any], FastRequest | None]


class Loop(Protocol):
    """The part of the worker that the fast path uses."""

    cfg: Any
    poller: Any
    tpool: Any
    method_queue: Any

    def submit(self, conn: Connection, rest: bytes) -> None:
        """Run the application on the request in a thread."""

    def count(self, response: Any) -> None:
        """Count a request that is being answered."""

    def answer_error(self, conn: Connection, error: Exception) -> None:
        """Answer that something went wrong."""

    def finish(self, conn: Connection, rest: bytes, *, keep_alive: bool) -> None:
        """Send the response, and wait for the next request."""


@dataclass(frozen=True, slots=True)
class _PendingRequest:
    """A request whose Redis call is under way, and the bytes that arrived after it."""

    conn: Connection
    rest: bytes
    request: FastRequest
    response: Any


class FastPath:
    """The event loop's Redis connection, and the requests that wait for it."""

    def __init__(self, loop: Loop, endpoint: FastPathEndpoint | None) -> None:
        self._loop = loop
        is_possible = endpoint is not None and event_loop_redis.is_supported(endpoint.redis_url)
        self._endpoint = endpoint if is_possible else None
        self._redis: EventLoopRedis | None = None
        self._connect_at = 0.0
        self._watched = 0

    def limit_wait(self, wait_s: float) -> float:
        """Return `wait_s`, or less where the loop has to wake up for a reply's timeout."""
        has_pending = self._redis is not None and self._redis.has_pending
        return min(wait_s, event_loop_redis.REPLY_TIMEOUT_S) if has_pending else wait_s

    def accept(self, conn: Connection, request: bytes, rest: bytes, *, is_chunked: bool) -> bool:
        """Begin to answer a request that has arrived; return False, with the request untouched, if it needs a thread.

        Large and chunked requests are not even parsed here: that may take seconds, in which the whole worker waits.
        """
        endpoint = self._endpoint
        if endpoint is None or is_chunked or len(request) > endpoint.max_request_bytes:
            return False
        if not request.startswith(endpoint.request_prefix):
            return False
        if self._redis is None:
            self._connect_soon(endpoint.redis_url)
            return False
        try:
            response, environ = wsgi.create(conn.parse(), conn.sock, conn.client, conn.server, self._loop.cfg)
            fast_request = endpoint.parse(environ, None)
        except Exception:  # the thread runs into it again, and answers
            fast_request = None
        if fast_request is None:
            conn.rewind()
            return False
        self._redis.call(
            fast_request.call(), partial(self._answer, _PendingRequest(conn, rest, fast_request, response))
        )
        return True

    def end_iteration(self) -> None:
        """Send the calls of this iteration; runs after everything else in it."""
        if self._redis is not None:
            self._redis.flush()
            self._redis.check_timeout()
            self._watch(self._redis)

    def _answer(self, pending: _PendingRequest, reply: Any) -> None:
        conn, rest = pending.conn, pending.rest
        is_failed = isinstance(reply, RedisError)
        keep_alive = None if is_failed else self._respond(pending, reply)
        if keep_alive is not None:
            self._loop.finish(conn, rest, keep_alive=keep_alive)
            return
        conn.rewind()
        conn.sock.handover = pending.request.hand_over(reply) if is_failed else None
        self._loop.submit(conn, rest)

    def _respond(self, pending: _PendingRequest, reply: Any) -> bool | None:
        """Return whether the connection may bring another request; None if the application has to answer."""
        conn, response = pending.conn, pending.response
        try:
            answer = pending.request.response(reply)
            if answer is None:
                return None
            status, headers, body = answer
            self._loop.count(response)
            response.start_response(status, headers)
            response.write(body)
            response.close()
            return not response.should_close() and conn.has_read_all()
        except Exception as error:
            self._loop.answer_error(conn, error)
            return False

    def _connect_soon(self, url: str) -> None:
        """Connect, in a thread; until then requests go to the application."""
        if time.monotonic() >= self._connect_at:
            self._connect_at = math.inf
            self._loop.tpool.submit(self._connect, url)

    def _connect(self, url: str) -> None:
        redis = None
        try:
            redis = EventLoopRedis(url)
        except RedisError:  # the application reports it: it asks the same server
            pass
        finally:
            self._loop.method_queue.defer(self._use, redis)

    def _use(self, redis: EventLoopRedis | None) -> None:
        self._redis, self._watched = redis, 0
        self._connect_at = time.monotonic() + _RECONNECT_S
        if redis is not None:
            self._watch(redis)

    def _read(self, redis: EventLoopRedis) -> None:
        redis.read_replies()
        self._watch(redis)

    def _watch(self, redis: EventLoopRedis) -> None:
        if redis.is_closed:  # unregister now: its descriptor may be reused soon
            self._loop.poller.unregister(redis.descriptor)
            self._redis, self._connect_at = None, time.monotonic() + _RECONNECT_S
            return
        events = EVENT_READ | (EVENT_WRITE if redis.has_unsent else 0)
        if events != self._watched:
            change = self._loop.poller.modify if self._watched else self._loop.poller.register
            change(redis.descriptor, events, lambda _: self._read(redis))
            self._watched = events
