"""Requests that the loop answers itself, since all that they wait for is one answer of the broker's server.

A thread costs more than such a request: it is woken for it, waits, is woken again for the answer, and fights the others
for the interpreter. Here the requests of a turn go out in one write, and those whose answers come together are answered
together. What needs more goes to a thread as it came, and so does everything while the server is away. Nothing here
waits, for then everybody would.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from selectors import EVENT_READ, EVENT_WRITE
from typing import Any, Protocol

from gunicorn.http import wsgi

from adapters import loop_wire
from adapters.broker import RedisError
from adapters.loop_wire import LoopWire
from api.server.asked import Answer, AskedRequest, AtOnceRequests
from api.server.connection import Connection

# How long after a connection is lost the next is opened.
_AWAY_S = 1.0


class Loop(Protocol):
    """What is needed of the loop."""

    cfg: Any
    poller: Any
    tpool: Any
    method_queue: Any

    def give(self, conn: Connection, rest: bytes, handle: Callable[[], bool]) -> None:
        """Let a thread answer; `handle` says whether the connection may bring another request."""

    def handle(self, conn: Connection) -> bool:
        """Run the application on the request, in a thread."""

    def count(self, response: Any) -> None:
        """Count a request that is being answered."""

    def answer_error(self, conn: Connection, error: Exception) -> None:
        """Answer that something went wrong."""

    def finish(self, conn: Connection, rest: bytes, *, is_kept: bool) -> None:
        """Send what was answered, and wait for the next request."""


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A request whose question is on its way, and what came behind it."""

    conn: Connection
    rest: bytes
    asked: AskedRequest
    response: Any


class AtOnce:
    """The loop's connection to the broker's server, and what is asked through it."""

    def __init__(self, loop: Loop, requests: AtOnceRequests | None) -> None:
        self._loop = loop
        self._requests = requests if requests is not None and loop_wire.serves(requests.redis_url) else None
        self._wire: LoopWire | None = None
        self._opens_at = 0.0
        self._watched = 0

    def most_wait(self, wait_s: float) -> float:
        """Return how long the loop may sleep that would sleep for `wait_s`."""
        return min(wait_s, loop_wire.PROMPT_S) if self._wire is not None and self._wire.waits else wait_s

    def takes(self, conn: Connection, request: bytes, rest: bytes, *, is_chunked: bool) -> bool:
        """Say whether a request that is all here is answered here. If not it is as it came.

        One that is large or comes in chunks is not even parsed: that may take seconds, in which nobody is answered.
        """
        requests = self._requests
        if requests is None or is_chunked or len(request) > requests.most_bytes:
            return False
        if not request.startswith(requests.begins):
            return False
        if self._wire is None:
            self._open(requests.redis_url)
            return False
        try:
            response, environ = wsgi.create(conn.parsed(), conn.sock, conn.client, conn.server, self._loop.cfg)
            asked = requests.ask(environ, None)
        except Exception:  # a thread meets it again, and answers it
            asked = None
        if asked is None or asked.is_let_through:
            conn.rewind()
            return False
        self._wire.ask(asked.question(), partial(self._told, _Waiting(conn, rest, asked, response)))
        return True

    def end_turn(self) -> None:
        """Send what this turn asked; called when the loop has done all else."""
        if self._wire is not None:
            self._wire.push()
            self._wire.look_at_the_clock()
            self._watch(self._wire)

    def _told(self, waiting: _Waiting, told: Any) -> None:
        conn, rest = waiting.conn, waiting.rest
        if isinstance(told, RedisError):
            answer = partial(waiting.asked.answer_without, told)
            self._loop.give(conn, rest, lambda: bool(self._respond(waiting, answer)))
            return
        is_kept = self._respond(waiting, partial(waiting.asked.answer, told))
        if is_kept is None:
            conn.rewind()
            self._loop.give(conn, rest, partial(self._loop.handle, conn))
        else:
            self._loop.finish(conn, rest, is_kept=is_kept)

    def _respond(self, waiting: _Waiting, answer: Callable[[], Answer | None]) -> bool | None:
        """Return whether the connection may bring another request; None if this one is not answered."""
        conn, response = waiting.conn, waiting.response
        try:
            answered = answer()
            if answered is None:
                return None
            status, headers, sent = answered
            self._loop.count(response)
            response.start_response(status, headers)
            response.write(sent)
            response.close()
            return not response.should_close() and conn.has_read_all()
        except Exception as error:
            self._loop.answer_error(conn, error)
            return False

    def _open(self, url: str) -> None:
        """Connect, in a thread; until then requests go the long way."""
        if time.monotonic() >= self._opens_at:
            self._opens_at = math.inf
            self._loop.tpool.submit(self._connect, url)

    def _connect(self, url: str) -> None:
        wire = None
        try:
            wire = LoopWire(url)
        except RedisError:  # those that are asked meanwhile say so
            pass
        finally:
            self._loop.method_queue.defer(self._opened, wire)

    def _opened(self, wire: LoopWire | None) -> None:
        self._wire, self._watched = wire, 0
        self._opens_at = time.monotonic() + _AWAY_S
        if wire is not None:
            self._watch(wire)

    def _take(self, wire: LoopWire) -> None:
        wire.take()
        self._watch(wire)

    def _watch(self, wire: LoopWire) -> None:
        if wire.gave_up:  # at once: its descriptor may soon be another's
            self._loop.poller.unregister(wire.descriptor)
            self._wire, self._opens_at = None, time.monotonic() + _AWAY_S
            return
        events = EVENT_READ | (EVENT_WRITE if wire.has_unsent else 0)
        if events != self._watched:
            change = self._loop.poller.modify if self._watched else self._loop.poller.register
            change(wire.descriptor, events, lambda _: self._take(wire))
            self._watched = events
