"""What every broker of ours does in a way that Dramatiq's do not."""

from collections import defaultdict
from collections.abc import Collection, Iterable
from typing import Any
from uuid import UUID, uuid4

import dramatiq
from dramatiq.broker import Broker, Consumer, MessageProxy
from dramatiq.errors import ActorNotFound

from models.jobs.silent_processes import HeldJob
from workers import unknown

# Between two looks a consumer's threads work off what it fetched; jobs of a few milliseconds need more of it. Calls to
# other servers are slow, and what one process holds another could have begun.
_DEPTH = 4
_CALLS_OUT = frozenset({"webhooks", "payouts", "imports", "mail"})


class PointerCarrier(Broker):
    """A job of a kind that this release does not know is given back, for a worker that does. Nothing is delayed."""

    #: What a process is called, to the broker and in its announcements.
    broker_id: str

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.broker_id = getattr(self, "broker_id", None) or str(uuid4())
        #: Per queue the messages that this process fetched and has not finished, by names of the broker's.
        self.in_hand: defaultdict[str, set[str]] = defaultdict(set)

    def get_actor(self, actor_name: str) -> dramatiq.Actor[..., Any]:
        # While a release is rolled out, old workers meet jobs of new kinds; Dramatiq would bury those.
        try:
            return super().get_actor(actor_name)
        except ActorNotFound:
            return super().get_actor(unknown.UNKNOWN)

    def get_declared_delay_queues(self) -> set[str]:
        return set()  # delays are the job table's, so no consumer has to look for any

    def fetched_by(self, process_id: UUID) -> dict[str, dict[Any, HeldJob | None]]:
        """Return per queue the messages that a process has and where each points; None for one without content."""
        return {}

    def forget(self, process_id: UUID, queue: str, messages: Collection[Any]) -> None:
        """Drop messages for good that a process has in its hands."""

    def forget_connections(self) -> None:
        """Let go of what a forked process inherited."""

    def keep_alive(self) -> None:
        """Say to the server that this thread is still there, if it wants to hear that. Never fails."""


def depth(queue_name: str) -> int:
    """Return how many times as much a consumer fetches ahead as Dramatiq would."""
    return 1 if queue_name in _CALLS_OUT else _DEPTH


class RemembersWhatItHas(Consumer):
    """One queue's consumer in a worker process. Another one takes over its memory when the connection was lost."""

    _in_hand: set[str]

    def __next__(self) -> MessageProxy | None:
        message = super().__next__()
        if message is not None:
            self._in_hand.add(self._name(message))
        return message

    def ack(self, message: MessageProxy) -> None:
        try:
            super().ack(message)
        finally:  # it is done; an acknowledgement that was lost is made up for like a fetch
            self._in_hand.discard(self._name(message))

    def nack(self, message: MessageProxy) -> None:
        try:
            super().nack(message)
        finally:
            self._in_hand.discard(self._name(message))

    def requeue(self, messages: Iterable[MessageProxy]) -> None:
        given_back = list(messages)
        super().requeue(given_back)
        self._in_hand.difference_update(map(self._name, given_back))

    def _name(self, message: MessageProxy) -> str:
        raise AssertionError("every broker names messages in its own way")
