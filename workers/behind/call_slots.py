"""How many calls to one server this process makes at a time, where a job finds its server only by reading.

The queue between consumers and threads counts such jobs by organization (`workers.carriers.fair_queue`), so a server
that is slow for many organizations could hold every thread of the queue. Here its calls have the share of one server. A
job that finds no slot waits for a moment, since most calls end soon, and then gives its thread to others.
"""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_WAITS_S = 1.0


class CallSlots:
    """The calls that the threads of this process make now, by server."""

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
        """Hold a slot of a server while the caller calls it, and yield whether there was one within a moment."""
        is_held = self._take(server)
        try:
            yield is_held
        finally:
            if is_held:
                self._give_back(server)

    def _take(self, server: str) -> bool:
        until = time.monotonic() + self._waits_s
        with self._changed:
            while self._limit is not None and self._calls[server] >= self._limit():
                if not self._changed.wait(until - time.monotonic()):
                    return False
            self._calls[server] += 1
            return True

    def _give_back(self, server: str) -> None:
        with self._changed:
            self._calls[server] -= 1
            if not self._calls[server]:
                del self._calls[server]
            self._changed.notify_all()


#: Of gateways, in the process that works on their events.
gateways = CallSlots()
