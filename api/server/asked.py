"""What the loop and an application agree on of requests that take one question to the broker's server and no thread.

An answer is status, headers and body; None where the request is a thread's after all.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from adapters.broker import RedisError
from adapters.loop_wire import Question

Answer = tuple[str, list[tuple[str, str]], bytes]


class AskedRequest(Protocol):
    """A request before its question was asked."""

    @property
    def is_let_through(self) -> bool:
        """Say whether the server is not to be asked now."""

    def question(self) -> Question:
        """Return what the server is asked."""

    def answer(self, told: Any) -> Answer | None:
        """Return the answer by what the server told. Waits for nothing."""

    def answer_without(self, error: RedisError) -> Answer | None:
        """Return the answer where the server told nothing for certain. May wait."""


@dataclass(frozen=True, slots=True)
class AtOnceRequests:
    """Which requests of an application may be such.

    `begins` is how each begins on the wire, and none is larger than `most_bytes`. `ask` takes a WSGI environment, and
    something that it does not look at, as all that stands around an application does; it returns None for what is out
    of the ordinary.
    """

    redis_url: str
    begins: bytes
    most_bytes: int
    ask: Callable[[dict[str, Any], Any], AskedRequest | None]
