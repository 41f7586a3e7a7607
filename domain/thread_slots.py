"""Limits on the threads of a worker process for one kind of job, so that a slow server leaves threads for other jobs.

Only long jobs are limited: those with a lease of their own, which wait for external servers or take minutes.
Other jobs end within milliseconds and may use every thread.
"""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field
from uuid import UUID

from domain import jobs

_LONG_NAMES = frozenset(job.name for job in jobs.ALL if job.lease_s is not None)
_LONG_QUEUES = frozenset(job.queue for job in jobs.ALL if job.lease_s is not None)


def has_long_jobs(queue: str) -> bool:
    """Return whether jobs of a queue may occupy a thread for seconds."""
    return queue in _LONG_QUEUES


def queue_limit(*, threads: int, queues: int) -> int:
    """Return how many threads of a process long jobs of one queue may occupy: half, if other queues share it."""
    return threads if queues <= 1 else max(1, threads // 2)


def server_limit(*, threads: int, queues: int) -> int:
    """Return how many threads of a process long jobs of one server may occupy: half of their queue's limit."""
    return max(1, queue_limit(threads=threads, queues=queues) // 2)


def fair_key(organization_id: UUID, server: str) -> str:
    """Return the fair key of an organization's jobs that call a server shared with other organizations."""
    return f"{organization_id}@{server}"


def server_of(fair_key: str) -> str:
    """Return the server that a fair key names; a key without one counts as a server of its own."""
    return fair_key.rpartition("@")[2]


@dataclass(frozen=True, slots=True)
class Work:
    """The properties of a job that the limits depend on."""

    queue: str
    name: str
    server: str

    @property
    def is_long(self) -> bool:
        """Whether it may occupy a thread for seconds."""
        return self.name in _LONG_NAMES


@dataclass(slots=True)
class ThreadSlots:
    """The jobs that occupy the threads of one process now. The caller serializes all calls."""

    threads: int
    _by_queue: Counter[str] = field(default_factory=Counter)
    _long_by_queue: Counter[str] = field(default_factory=Counter)
    _long_by_server: Counter[tuple[str, str]] = field(default_factory=Counter)

    def begin(self, work: Work) -> None:
        """Count a started job."""
        self._count(work, 1)

    def end(self, work: Work) -> None:
        """Count a finished job."""
        self._count(work, -1)

    def busy_threads(self, work: Work) -> tuple[int, int]:
        """Return how many threads run jobs of the same queue, and long jobs of the same server."""
        return self._by_queue[work.queue], self._long_by_server[work.queue, work.server]

    def has_room(self, work: Work, *, queues: Collection[str]) -> bool:
        """Return whether a free thread may start a job. `queues` are those that the process serves.

        A long job may not if its queue or its server is at its limit. The second job of a server must leave one thread
        of its queue for idle servers, and the second of a queue one thread for every idle queue.
        """
        if not work.is_long:
            return True
        limit = queue_limit(threads=self.threads, queues=len(queues))
        of_queue, of_server = self._long_by_queue[work.queue], self._long_by_server[work.queue, work.server]
        if of_queue >= limit or of_server >= server_limit(threads=self.threads, queues=len(queues)):
            return False
        if of_server and of_queue + 1 >= limit:
            return False
        if not self._by_queue[work.queue]:
            return True
        idle = sum(not self._by_queue[queue] for queue in queues)
        return self.threads - self._by_queue.total() - 1 >= idle

    def _count(self, work: Work, by: int) -> None:
        self._by_queue[work.queue] += by
        if work.is_long:
            self._long_by_queue[work.queue] += by
            self._long_by_server[work.queue, work.server] += by
            if not self._long_by_server[work.queue, work.server]:
                del self._long_by_server[work.queue, work.server]
