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
from workers.carriers import in_hand
from workers.carriers.consumer import QueueConsumer
from workers.carriers.ours import PointerCarrier, depth

# Dramatiq gives back what a worker fetched that asked for nothing for this long; costs two range reads per fetch. The
# relay is sooner (workers.silence): this is for a process that died before it announced itself.
_HEARTBEAT_TIMEOUT_MS = 30_000
_ALWAYS_MAINTAIN = 1_000_000


class ValkeyCarrier(PointerCarrier, RedisBroker):
    """Dramatiq's broker with four changes.

    Its consumers are called when there is work; Dramatiq's own look for it, and idle for up to a second. They give
    back what was fetched and never came. And each queue's keys have names of their own, which in a cluster put them
    together. And who is alive is judged by the database's clock.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(maintenance_chance=_ALWAYS_MAINTAIN, heartbeat_timeout=_HEARTBEAT_TIMEOUT_MS, **options)
        self.scripts["dispatch"] = partial(_dispatch, self.client, self.scripts["dispatch"])

    def consume(self, queue_name: str, prefetch: int = 1, timeout: int = 5000) -> Consumer:
        return QueueConsumer(self, queue_name, prefetch * depth(queue_name))

    def fetched_by(self, process_id: UUID) -> dict[str, dict[Any, HeldJob | None]]:
        return in_hand.of(self.client, process_id)

    def forget(self, process_id: UUID, queue: str, messages: Collection[Any]) -> None:
        in_hand.forget(self.client, process_id, queue, messages)

    def forget_connections(self) -> None:
        broker.forget_connections(self.client)


def _dispatch(client: redis.Redis, script: Callable[..., Any], *, args: Sequence[Any], keys: object) -> Any:
    """Run Dramatiq's script, which takes one key: what the names of all others begin with.

    It compares times that worker processes give it, so they are given by the database's clock, which all share.
    """
    command, _, queue_name, *others = args
    now_ms = int(clock.now().timestamp() * 1_000)
    return script(args=[command, now_ms, queue_name, *others], keys=[in_hand.namespace(client, queue_name)])
