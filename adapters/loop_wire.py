"""One connection to the broker's server for all that a loop asks it: many questions in one write, and no waiting.

A thread that asks waits for its answer, and is woken for it alone. A loop puts questions together (`ask`), sends what
it has at the end of its turn (`push`) and hands answers on when they are there (`take`). Like
`PromptWire` it gives up after a quarter of a second and repeats nothing; a wire that was given up stays so.
"""

import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import hiredis
from redis.connection import AbstractConnection, SSLConnection
from redis.exceptions import ConnectionError as Gone
from redis.exceptions import RedisError, ResponseError
from redis.exceptions import TimeoutError as TooLate

from adapters import broker
from adapters.prompt_wire import Argument, Script

#: How long an answer may take.
PROMPT_S = 0.25

_RECV_BYTES = 65_536
# What the parser answers while an answer is not all there.
_NOTHING = object()

#: Is told the answer, or the RedisError because of which there is none for certain.
Then = Callable[[Any], None]


@dataclass(frozen=True, slots=True)
class Question:
    """A script with the keys and values that it is run with."""

    script: Script
    keys: tuple[str, ...]
    values: tuple[Argument, ...]


@dataclass(frozen=True, slots=True)
class _Asked:
    question: Question
    then: Then
    until: float  # by the monotonic clock


def serves(url: str) -> bool:
    """Say whether a server can be asked so: not a cluster, whose nodes change, and not through TLS."""
    client = broker.prompt_client(url)
    return not broker.is_cluster(client) and not issubclass(client.connection_pool.connection_class, SSLConnection)


class LoopWire:
    """An open connection, for one thread. `gave_up` says that it is none any more."""

    def __init__(self, url: str) -> None:
        """Connect, which waits as nothing else here does. Raises RedisError."""
        pool = broker.prompt_client(url).connection_pool
        self._connection: AbstractConnection = pool.connection_class(**pool.connection_kwargs)
        self._connection.connect()
        self._socket: Any = self._connection._sock
        self._socket.setblocking(False)
        self._reader = hiredis.Reader(notEnoughData=_NOTHING)
        self._asked: deque[_Asked] = deque()
        self._unsent = bytearray()
        self.gave_up = False
        #: What becomes readable with answers.
        self.descriptor = int(self._socket.fileno())

    @property
    def waits(self) -> bool:
        """Say whether answers are due."""
        return bool(self._asked)

    @property
    def has_unsent(self) -> bool:
        """Say whether the server has not taken all questions yet."""
        return bool(self._unsent)

    def ask(self, question: Question, then: Then) -> None:
        """Put a question to those that the next `push` sends. Budget: no round trip of its own."""
        self._add("EVALSHA", question.script.digest, question, then)

    def push(self) -> None:
        """Send what the server takes now."""
        if self._unsent:
            try:
                del self._unsent[: self._socket.send(self._unsent)]
            except BlockingIOError:
                pass
            except OSError as error:
                self.give_up(Gone(str(error)))

    def take(self) -> None:
        """Hand on the answers that are there."""
        try:
            data = self._socket.recv(_RECV_BYTES)
        except BlockingIOError:
            return
        except OSError as error:
            self.give_up(Gone(str(error)))
            return
        if not data:
            self.give_up(Gone("the server closed the connection"))
            return
        self._reader.feed(data)
        try:
            while not self.gave_up and (answer := self._reader.gets()) is not _NOTHING:
                if not isinstance(answer, hiredis.PushNotification):
                    self._hand_on(answer)
        except hiredis.ProtocolError as error:  # what stands between us speaks, and not the server
            self.give_up(Gone(str(error)))

    def look_at_the_clock(self) -> None:
        """Give up if an answer takes too long. What has arrived is taken first."""
        if self._asked and self._asked[0].until <= time.monotonic():
            self.take()
            if self._asked and self._asked[0].until <= time.monotonic():
                self.give_up(TooLate("no answer in time"))

    def give_up(self, error: RedisError) -> None:
        """Close, and tell everybody who waits for an answer why there is none."""
        self.gave_up = True
        waiting, self._asked = self._asked, deque()
        with suppress(OSError):
            self._connection.disconnect()
        for asked in waiting:
            asked.then(error)

    def _add(self, command: str, script: str, question: Question, then: Then) -> None:
        sent: tuple[Any, ...] = (command, script, len(question.keys), *question.keys, *question.values)
        self._unsent += hiredis.pack_command(sent)
        self._asked.append(_Asked(question, then, time.monotonic() + PROMPT_S))

    def _hand_on(self, answer: Any) -> None:
        asked = self._asked.popleft()
        if not isinstance(answer, hiredis.ReplyError):
            asked.then(answer)
        elif str(answer).startswith("NOSCRIPT"):  # it has run nothing
            self._add("EVAL", asked.question.script.text, asked.question, asked.then)
        else:  # it takes nothing, or is the primary no more: the next wire is told by the Sentinels
            error = ResponseError(str(answer))
            asked.then(error)
            self.give_up(error)
