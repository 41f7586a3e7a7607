"""Dramatiq's consumer with a memory: what it fetched whose answer was lost goes back to the queue.

A fetch moves messages into the process's hands and then answers. Where that answer is lost, or an acknowledgement on
its way, they would stay there until the process ends, and their jobs wait for their leases.
"""

import time
from contextlib import suppress
from typing import Any

import redis
import structlog
from dramatiq.broker import MessageProxy
from dramatiq.brokers.redis import _RedisConsumer
from dramatiq.errors import ConnectionClosed

from workers.carriers import in_hand
from workers.carriers.ours import RemembersWhatItHas

_log = structlog.get_logger(__name__)

_LOOK_EVERY_S = 5.0


class QueueConsumer(RemembersWhatItHas, _RedisConsumer):
    """One queue's consumer in a worker process."""

    def __init__(self, broker: Any, queue_name: str, prefetch: int, timeout: int) -> None:
        super().__init__(broker, queue_name, prefetch, timeout)
        self._in_hand = broker.in_hand[queue_name]
        self._look_due_at = 0.0

    def __next__(self) -> MessageProxy | None:
        # What is in the cache is on its way to the process's hands, so this looks while nothing is.
        if not self.message_cache and time.monotonic() >= self._look_due_at:
            self._give_back_what_never_came()
            self._look_due_at = time.monotonic() + _LOOK_EVERY_S
        return super().__next__()

    def close(self) -> None:
        """Give back what was fetched and nobody was handed: a new consumer knows nothing of this one's cache."""
        self.message_cache = []
        with suppress(redis.RedisError, ConnectionClosed):
            self._give_back_what_never_came()

    def _give_back_what_never_came(self) -> None:
        try:
            fetched = self.broker.client.smembers(
                in_hand.key(self.broker.client, self.broker.broker_id, self.queue_name)
            )
            lost = {message.decode() for message in fetched} - self._in_hand
            if lost:
                self.broker.do_requeue(self.queue_name, *lost)
                _log.warning("consumer.gave_back", queue=self.queue_name, messages=len(lost))
        except redis.ConnectionError as error:
            raise ConnectionClosed(error) from None

    def _name(self, message: MessageProxy) -> str:
        return str(message.options["redis_message_id"])
