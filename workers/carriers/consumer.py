"""Dramatiq's consumer, which also requeues lost messages and waits for new ones without polling.

A fetch moves messages into the process's set and then responds. If that response is lost, or an acknowledgement, they
would stay in the set until the process ends, and their jobs would wait for their leases. They are requeued here.

An idle consumer does not poll: it waits at the broker, which responds as soon as the queue has a message. The response
only wakes the consumer, so a process that dies or freezes while it waits holds no message.
"""

import time
from contextlib import suppress
from typing import Any

import redis
import structlog
from dramatiq.broker import MessageProxy
from dramatiq.brokers.redis import _RedisConsumer
from dramatiq.common import compute_backoff
from dramatiq.errors import ConnectionClosed

from workers.carriers import fetched_messages
from workers.carriers.pointer_carrier import TrackingConsumer

_log = structlog.get_logger(__name__)

_REPAIR_EVERY_S = 5.0

# Messages come in bursts: after one, it polls this often, with growing pauses, before it waits to be woken.
_POLLS_AFTER_WORK = 2
# The longest such pause. All waiting consumers are woken and one gets the message: the others pause as well, or a
# large fleet would fetch for each message.
_PAUSE_MS = 50
# It fetches at least this often, which shows the broker that this process is alive. Below the client's own timeout.
_WAIT_S = 1.0


class QueueConsumer(TrackingConsumer, _RedisConsumer):
    """One queue's consumer in a worker process."""

    def __init__(self, broker: Any, queue_name: str, prefetch: int) -> None:
        super().__init__(broker, queue_name, prefetch, timeout=0)  # it pauses below instead
        self._unacknowledged = broker.unacknowledged[queue_name]
        self._repair_due_at = 0.0
        self._was_woken = False

    def __next__(self) -> MessageProxy | None:
        # Cached messages are fetched and not tracked yet, so this runs only while the cache is empty.
        if not self.message_cache and time.monotonic() >= self._repair_due_at:
            self._requeue_lost()
            self._repair_due_at = time.monotonic() + _REPAIR_EVERY_S
        message = super().__next__()
        if message is None:
            self._wait()
        return message

    def close(self) -> None:
        """Requeue fetched messages that no thread got: a new consumer does not know this one's cache."""
        self.message_cache = []
        with suppress(redis.RedisError, ConnectionClosed):
            self._requeue_lost()

    def _wait(self) -> None:
        is_full = self.outstanding_message_count >= self.prefetch
        if is_full or self._was_woken or self.misses <= _POLLS_AFTER_WORK:
            self._was_woken = False
            _, pause_ms = compute_backoff(self.misses - 1, max_backoff=_PAUSE_MS)
            time.sleep(pause_ms / 1000)
        else:
            self._was_woken = self._wait_for_message()

    def _wait_for_message(self) -> bool:
        queue = fetched_messages.list_key(self.broker.client, self.queue_name)
        try:
            # Moves the first message to where it was, in one step: a peek that blocks.
            return self.broker.client.blmove(queue, queue, _WAIT_S, src="LEFT", dest="LEFT") is not None
        except (redis.ConnectionError, redis.ResponseError) as error:  # the latter from a server that was just demoted
            raise ConnectionClosed(error) from None

    def _requeue_lost(self) -> None:
        try:
            fetched = self.broker.client.smembers(
                fetched_messages.set_key(self.broker.client, self.broker.broker_id, self.queue_name)
            )
            lost = {message.decode() for message in fetched} - self._unacknowledged
            if lost:
                self.broker.do_requeue(self.queue_name, *lost)
                _log.warning("consumer.gave_back", queue=self.queue_name, messages=len(lost))
        except redis.ConnectionError as error:
            raise ConnectionClosed(error) from None

    def _name(self, message: MessageProxy) -> str:
        return str(message.options["redis_message_id"])
