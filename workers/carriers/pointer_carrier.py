"""The parts that this service's brokers have in common and Dramatiq's do not have."""

from collections import defaultdict
from collections.abc import Collection, Iterable
from typing import Any
from uuid import UUID, uuid4

import dramatiq
from dramatiq.broker import Broker, Consumer, MessageProxy
from dramatiq.errors import ActorNotFound

from models.jobs.silent_processes import HeldJob
from workers import unknown_jobs

# Between two fetches threads run the messages that a consumer fetched; jobs of a few milliseconds need more of them.
# Calls to other servers are slow, and another process could have begun the messages that one holds.
_PREFETCH_FACTOR = 4
_CALLING_QUEUES = frozenset({"webhooks", "payouts", "imports", "mail"})


class PointerCarrier(Broker):
    """Puts back jobs of kinds that this release does not know, for workers that do. Delays no message."""

    #: The id of this process, for the broker and in its announcements.
    broker_id: str

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.broker_id = getattr(self, "broker_id", None) or str(uuid4())
        #: Per queue the ids of the messages that this process has fetched and not acknowledged.
        self.unacknowledged: defaultdict[str, set[str]] = defaultdict(set)

    def get_actor(self, actor_name: str) -> dramatiq.Actor[..., Any]:
        # During a deployment old workers get jobs of new kinds; Dramatiq would make dead letters of those.
        try:
            return super().get_actor(actor_name)
        except ActorNotFound:
            return super().get_actor(unknown_jobs.UNKNOWN_JOB)

    def get_declared_delay_queues(self) -> set[str]:
        return set()  # the job table delays jobs, so no consumer has to look for delayed messages

    def fetched_by(self, process_id: UUID) -> dict[str, dict[Any, HeldJob | None]]:
        """Return per queue the messages that a process has fetched, and the job of each; None if it has no content."""
        return {}

    def forget(self, process_id: UUID, queue: str, messages: Collection[Any]) -> None:
        """Delete messages that a process has fetched."""

    def forget_connections(self) -> None:
        """Forget the connections that a forked process inherited."""

    def keep_alive(self) -> None:
        """Report to the server that this thread is alive, if the server needs that. Never fails."""


def prefetch_factor(queue_name: str) -> int:
    """Return how many times as many messages a consumer fetches ahead as Dramatiq would."""
    return 1 if queue_name in _CALLING_QUEUES else _PREFETCH_FACTOR


class TrackingConsumer(Consumer):
    """One queue's consumer in a worker process. After a lost connection its successor tracks the same messages."""

    _unacknowledged: set[str]

    def __next__(self) -> MessageProxy | None:
        message = super().__next__()
        if message is not None:
            self._unacknowledged.add(self._name(message))
        return message

    def ack(self, message: MessageProxy) -> None:
        try:
            super().ack(message)
        finally:  # it is done; a lost acknowledgement is repaired like a lost fetch
            self._unacknowledged.discard(self._name(message))

    def nack(self, message: MessageProxy) -> None:
        try:
            super().nack(message)
        finally:
            self._unacknowledged.discard(self._name(message))

    def requeue(self, messages: Iterable[MessageProxy]) -> None:
        requeued = list(messages)
        super().requeue(requeued)
        self._unacknowledged.difference_update(map(self._name, requeued))

    def _name(self, message: MessageProxy) -> str:
        raise AssertionError("subclasses return the broker's id of a message")
