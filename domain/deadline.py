"""The deadline of a request: how much processor time it may use, and whether its client still waits for the answer.

A loop whose length a caller chooses calls `check` every so many steps. A request starts its deadline, and a request
within it has the same one; where none was started (commands, workers) `check` does nothing.
"""

import time
from collections.abc import Callable
from contextvars import ContextVar

#: Seconds of processor time that reading one request may take.
CPU_S = 30.0


class DeadlineExceeded(Exception):
    """The request has used up its processor time."""


class ClientLeft(Exception):
    """The client has closed its connection, so that an answer would reach no one."""


class Deadline:
    """The limits of one request. It is created and checked in the thread that answers the request."""

    def __init__(self, has_client_left: Callable[[], bool], *, cpu_s: float = CPU_S) -> None:
        self._ends_at = time.thread_time() + cpu_s
        self._has_client_left = has_client_left

    def check(self) -> None:
        """Raise DeadlineExceeded or ClientLeft if the request should end now."""
        if time.thread_time() > self._ends_at:
            raise DeadlineExceeded
        if self._has_client_left():
            raise ClientLeft


_current: ContextVar[Deadline | None] = ContextVar("deadline", default=None)


def start(deadline: Deadline) -> None:
    """Set the deadline of the current request."""
    _current.set(deadline)


def check() -> None:
    """Raise DeadlineExceeded or ClientLeft if the current request should end now."""
    deadline = _current.get()
    if deadline is not None:
        deadline.check()
