"""A Redis connection for an event loop: it batches commands into one write and reads replies without blocking.

A thread that waits for its own reply is woken for that reply alone. An event loop queues calls (`call`), writes them
at the end of an iteration (`flush`) and reads whatever replies have arrived (`read_replies`). Like `ThreadRedis`, the
connection gives up after a quarter of a second and never repeats a call. A closed connection stays closed.
"""

import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import hiredis
from redis.connection import AbstractConnection, SSLConnection
from redis.exceptions import ConnectionError as Disconnected
from redis.exceptions import RedisError, ResponseError
from redis.exceptions import TimeoutError as ReplyTimeout

from adapters import broker
from adapters.thread_redis import Argument, Script

#: How long a reply may take.
REPLY_TIMEOUT_S = 0.25

_RECV_BYTES = 65_536
# The parser's result while a reply is incomplete.
_INCOMPLETE = object()

#: Called with the reply, or with a RedisError when it is unknown whether the call was executed.
Callback = Callable[[Any], None]


@dataclass(frozen=True, slots=True)
class ScriptCall:
    """A script with its keys and values."""

    script: Script
    keys: tuple[str, ...]
    values: tuple[Argument, ...]


@dataclass(frozen=True, slots=True)
class _PendingCall:
    call: ScriptCall
    callback: Callback
    deadline: float  # by the monotonic clock


def is_supported(url: str) -> bool:
    """Return whether this server can be used: no cluster (its nodes change), and no TLS (it reads ahead)."""
    client = broker.prompt_client(url)
    return not broker.is_cluster(client) and not issubclass(client.connection_pool.connection_class, SSLConnection)


class EventLoopRedis:
    """An open connection, used by one thread."""

    def __init__(self, url: str) -> None:
        """Connect; this is the only call that blocks. Raises RedisError."""
        pool = broker.prompt_client(url).connection_pool
        self._connection: AbstractConnection = pool.connection_class(**pool.connection_kwargs)
        self._connection.connect()
        self._socket: Any = self._connection._sock
        self._socket.setblocking(False)
        self._reader = hiredis.Reader(notEnoughData=_INCOMPLETE)
        self._pending: deque[_PendingCall] = deque()
        self._unsent = bytearray()
        self.is_closed = False
        #: Becomes readable when replies arrive.
        self.descriptor = int(self._socket.fileno())

    @property
    def has_pending(self) -> bool:
        """Whether replies are outstanding."""
        return bool(self._pending)

    @property
    def has_unsent(self) -> bool:
        """Whether the socket has not accepted all calls yet."""
        return bool(self._unsent)

    def call(self, call: ScriptCall, callback: Callback) -> None:
        """Queue a call for the next `flush`. Budget: no round trip of its own."""
        self._queue("EVALSHA", call.script.digest, call, callback)

    def flush(self) -> None:
        """Send as much as the socket accepts now."""
        if self._unsent:
            try:
                del self._unsent[: self._socket.send(self._unsent)]
            except BlockingIOError:
                pass
            except OSError as error:
                self.close(Disconnected(str(error)))

    def read_replies(self) -> None:
        """Read the replies that have arrived and run their callbacks."""
        try:
            data = self._socket.recv(_RECV_BYTES)
        except BlockingIOError:
            return
        except OSError as error:
            self.close(Disconnected(str(error)))
            return
        if not data:
            self.close(Disconnected("the server closed the connection"))
            return
        self._reader.feed(data)
        try:
            while not self.is_closed and (reply := self._reader.gets()) is not _INCOMPLETE:
                if not isinstance(reply, hiredis.PushNotification):
                    self._dispatch(reply)
        except hiredis.ProtocolError as error:  # the reply comes from a proxy, not from Redis
            self.close(Disconnected(str(error)))

    def check_timeout(self) -> None:
        """Close if the oldest reply is overdue. Replies that have arrived are read first."""
        if self._is_overdue():
            self.read_replies()
            if self._is_overdue():
                self.close(ReplyTimeout("no reply in time"))

    def close(self, error: RedisError) -> None:
        """Close, and run the callbacks of all pending calls with the error."""
        self.is_closed = True
        pending, self._pending = self._pending, deque()
        with suppress(OSError):
            self._connection.disconnect()
        for each in pending:
            each.callback(error)

    def _is_overdue(self) -> bool:
        return bool(self._pending) and self._pending[0].deadline <= time.monotonic()

    def _queue(self, command: str, script: str, call: ScriptCall, callback: Callback) -> None:
        packed: tuple[Any, ...] = (command, script, len(call.keys), *call.keys, *call.values)
        self._unsent += hiredis.pack_command(packed)
        self._pending.append(_PendingCall(call, callback, time.monotonic() + REPLY_TIMEOUT_S))

    def _dispatch(self, reply: Any) -> None:
        pending = self._pending.popleft()
        if not isinstance(reply, hiredis.ReplyError):
            pending.callback(reply)
        elif str(reply).startswith("NOSCRIPT"):  # nothing was executed
            self._queue("EVAL", pending.call.script.text, pending.call, pending.callback)
        else:  # out of memory, or no longer the primary: the next connection asks the Sentinels again
            error = ResponseError(str(reply))
            pending.callback(error)
            self.close(error)
