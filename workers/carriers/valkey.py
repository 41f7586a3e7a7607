"""Redis or Valkey as the carrier of pointers, alone, watched by Sentinels, or as a cluster."""

from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any
from uuid import UUID

import redis
from dramatiq.broker import Consumer
from dramatiq.brokers.redis import RedisBroker

from adapters import broker, clock
from models.jobs.silent_processes import HeldJob
from workers.carriers import fetched_messages
from workers.carriers.consumer import QueueConsumer
from workers.carriers.pointer_carrier import PointerCarrier, prefetch_factor

# Dramatiq requeues the messages of a worker that fetched nothing for this long, for two range reads per fetch. The
# relay is faster (workers.silence): this is for a process that died before it announced itself.
_HEARTBEAT_TIMEOUT_MS = 30_000
_ALWAYS_MAINTAIN = 1_000_000


class ValkeyCarrier(PointerCarrier, RedisBroker):
    """Dramatiq's broker with four changes.

    Its consumers are woken when there are messages; Dramatiq's poll, and sleep for up to a second. They requeue
    messages whose fetch was lost. The keys of each queue have a common prefix, which places them in one slot of a
    cluster. The database's clock decides which processes are alive.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(maintenance_chance=_ALWAYS_MAINTAIN, heartbeat_timeout=_HEARTBEAT_TIMEOUT_MS, **options)
        self.scripts["dispatch"] = partial(_dispatch, self.client, self.scripts["dispatch"])

    def consume(self, queue_name: str, prefetch: int = 1, timeout: int = 5000) -> Consumer:
        return QueueConsumer(self, queue_name, prefetch * prefetch_factor(queue_name))

    def fetched_by(self, process_id: UUID) -> dict[str, dict[Any, HeldJob | None]]:
        return fetched_messages.read(self.client, process_id)

    def forget(self, process_id: UUID, queue: str, messages: Collection[Any]) -> None:
        fetched_messages.delete(self.client, process_id, queue, messages)

    def forget_connections(self) -> None:
        broker.drop_connections(self.client)


def _dispatch(client: redis.Redis, script: Callable[..., Any], *, args: Sequence[Any], keys: object) -> Any:
    """Run Dramatiq's script, which takes one key: the prefix of all others.

    It compares the times that worker processes pass, so those are taken from the database's clock, which all share.
    """
    command, _, queue_name, *others = args
    now_ms = int(clock.now().timestamp() * 1_000)
    return script(args=[command, now_ms, queue_name, *others], keys=[fetched_messages.namespace(client, queue_name)])
