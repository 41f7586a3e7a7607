"""The limit of concurrent calls to one server, for jobs that learn their server only when they read their row.

The queue between consumers and threads counts such jobs by organization (`workers.carriers.fair_queue`), so a server
that is slow for many organizations could occupy every thread of the queue. Here its calls are limited to the share of
one server. A job that gets no slot waits for a second, since most calls end soon, and then frees its thread.
"""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_WAITS_S = 1.0


class CallSlots:
    """The calls that the threads of this process are making, by server."""

    def __init__(self, *, waits_s: float = _WAITS_S) -> None:
        self._waits_s = waits_s
        self._changed = threading.Condition()
        self._calls: Counter[str] = Counter()
        self._limit: Callable[[], int] | None = None

    def limit_to(self, limit: Callable[[], int] | None) -> None:
        """Allow as many calls to one server as `limit` returns; None allows any number."""
        self._limit = limit

    @contextmanager
    def hold(self, server: str) -> Iterator[bool]:
        """Hold a slot of a server while the caller calls it. Yields False if none was free within the wait."""
        is_held = self._acquire(server)
        try:
            yield is_held
        finally:
            if is_held:
                self._release(server)

    def _acquire(self, server: str) -> bool:
        until = time.monotonic() + self._waits_s
        with self._changed:
            while self._limit is not None and self._calls[server] >= self._limit():
                if not self._changed.wait(until - time.monotonic()):
                    return False
            self._calls[server] += 1
            return True

    def _release(self, server: str) -> None:
        with self._changed:
            self._calls[server] -= 1
            if not self._calls[server]:
                del self._calls[server]
            self._changed.notify_all()


#: The slots of gateways, in the process that handles their events.
gateways = CallSlots()
