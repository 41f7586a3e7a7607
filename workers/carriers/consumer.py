"""Dramatiq's consumer with a memory and a waiting place.

What it fetched whose answer was lost goes back to the queue. A fetch moves messages into the process's hands and then
answers. Where that answer is lost, or an acknowledgement on its way, they would stay there until the process ends, and
their jobs wait for their leases.

With nothing to do it does not look again and again: it waits at the broker, which answers as soon as the queue has
something. The answer is only a call to come and look, so a process that dies or freezes while it waits holds nothing.
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

from workers.carriers import in_hand
from workers.carriers.ours import RemembersWhatItHas

_log = structlog.get_logger(__name__)

_LOOK_EVERY_S = 5.0

# Work comes in bunches: after some, it looks so often again by itself, ever later, before it waits to be called.
_LOOKS_AFTER_WORK = 2
# The longest such pause. Everybody who waits is called, and one finds the message: the others pause as well, or a
# large fleet would all come for each.
_PAUSE_MS = 50
# By then it looks without a call, which says to the broker that this process lives. Under the client's own time-out.
_WAIT_S = 1.0


class QueueConsumer(RemembersWhatItHas, _RedisConsumer):
    """One queue's consumer in a worker process."""

    def __init__(self, broker: Any, queue_name: str, prefetch: int) -> None:
        super().__init__(broker, queue_name, prefetch, timeout=0)  # it pauses below, and not by itself
        self._in_hand = broker.in_hand[queue_name]
        self._look_due_at = 0.0
        self._was_called = False

    def __next__(self) -> MessageProxy | None:
        # What is in the cache is on its way to the process's hands, so this looks while nothing is.
        if not self.message_cache and time.monotonic() >= self._look_due_at:
            self._give_back_what_never_came()
            self._look_due_at = time.monotonic() + _LOOK_EVERY_S
        message = super().__next__()
        if message is None:
            self._wait()
        return message

    def close(self) -> None:
        """Give back what was fetched and nobody was handed: a new consumer knows nothing of this one's cache."""
        self.message_cache = []
        with suppress(redis.RedisError, ConnectionClosed):
            self._give_back_what_never_came()

    def _wait(self) -> None:
        is_full = self.outstanding_message_count >= self.prefetch
        if is_full or self._was_called or self.misses <= _LOOKS_AFTER_WORK:
            self._was_called = False
            _, pause_ms = compute_backoff(self.misses - 1, max_backoff=_PAUSE_MS)
            time.sleep(pause_ms / 1000)
        else:
            self._was_called = self._is_called()

    def _is_called(self) -> bool:
        queue = in_hand.waiting(self.broker.client, self.queue_name)
        try:
            # Takes the first message and puts it back where it was, in one step: a look that can wait.
            return self.broker.client.blmove(queue, queue, _WAIT_S, src="LEFT", dest="LEFT") is not None
        except (redis.ConnectionError, redis.ResponseError) as error:  # the latter from one that was just demoted
            raise ConnectionClosed(error) from None

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
