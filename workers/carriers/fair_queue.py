"""The queue between a process's consumers and its threads: it chooses the next message for a free thread.

Dramatiq's own gives the oldest message to any thread, so that a few slow servers end up occupying all threads. This one
keeps the limits of `domain.thread_slots`, and prefers the queue that occupies the fewest threads.
"""

import itertools
import queue
import threading
from collections import deque
from collections.abc import Collection
from typing import Any

from dramatiq.middleware import Middleware

from domain.thread_slots import ThreadSlots, Work, server_limit, server_of
from workers.batching import call_slots


class FairQueue(queue.Queue[Any]):
    """A work queue for Dramatiq's worker threads: a thread that took a message holds its slot until `task_done`.

    `queues` are the names of the queues that the process serves; more may be added later.
    Of the waiting threads the most recent is woken: a process with few jobs then uses only a few threads, and each
    used thread keeps a connection to the database.
    """

    def __init__(self, *, threads: int, queues: Collection[str]) -> None:
        super().__init__()
        self._slots = ThreadSlots(threads)
        self._queues = queues
        self._arrivals = itertools.count()
        # By the properties that the limits need; each with the number of its arrival, in order.
        self._waiting: dict[Work, deque[tuple[int, Any]]] = {}
        self._held: dict[int, Work] = {}
        self._idle: list[threading.Condition] = []

    def get(self, block: bool = True, timeout: float | None = None) -> Any:
        """Take the next message of this thread. Raises Empty if none may begin within `timeout`."""
        with self.mutex:
            work = self._next_work()
            if work is None and block:
                work = self._wait(timeout)
            if work is None:
                raise queue.Empty
            self._slots.begin(work)
            self._held[threading.get_ident()] = work
            item = self._take(work)
            self._wake()
            return item

    def get_nowait(self) -> Any:
        """Take a message regardless of the limits: a process that ends requeues the messages that it did not begin."""
        with self.mutex:
            for work in self._waiting:
                return self._take(work)
            raise queue.Empty

    def task_done(self) -> None:
        """Release the slot of the message that this thread took."""
        with self.mutex:
            work = self._held.pop(threading.get_ident(), None)
            if work is not None:
                self._slots.end(work)
                self._wake()
        super().task_done()

    def _put(self, item: Any) -> None:
        message = item.message
        work = Work(message.queue_name, message.actor_name, server_of(str(message.kwargs.get("key", ""))))
        self._waiting.setdefault(work, deque()).append((next(self._arrivals), item))
        self._wake()

    def _take(self, work: Work) -> Any:
        waiting = self._waiting[work]
        _, item = waiting.popleft()
        if not waiting:
            del self._waiting[work]
        return item

    def _qsize(self) -> int:
        return sum(map(len, self._waiting.values()))

    def _next_work(self) -> Work | None:
        """Return the work to begin now: the oldest of those whose queue and server occupy the fewest threads."""
        startable = [work for work in self._waiting if self._slots.has_room(work, queues=self._queues)]
        return min(
            startable, key=lambda work: (*self._slots.busy_threads(work), self._waiting[work][0][0]), default=None
        )

    def _wait(self, timeout: float | None) -> Work | None:
        wake_up = threading.Condition(self.mutex)
        self._idle.append(wake_up)
        wake_up.wait(timeout)
        if wake_up in self._idle:
            self._idle.remove(wake_up)
        return self._next_work()

    def _wake(self) -> None:
        if self._idle and self._next_work() is not None:
            self._idle.pop().notify()


class FairThreads(Middleware):
    """Middleware that puts the fair queue between the consumers and the threads of a worker before it starts."""

    def before_worker_boot(self, broker: Any, worker: Any) -> None:
        threads, queues = worker.worker_threads, worker.consumers
        worker.work_queue = FairQueue(threads=threads, queues=queues)
        call_slots.gateways.limit_to(lambda: server_limit(threads=threads, queues=len(queues)))
