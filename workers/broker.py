"""Dramatiq's broker as this service uses it: a carrier of pointers, without retries, delays or results of its own.

Retrying, delaying and burying are the job table's; Dramatiq brings processes, threads, time limits and shutdown.
Its own dead-letter set stays empty: anything in it is an alarm.
"""

from collections import defaultdict
from typing import Any

import dramatiq
from dramatiq.broker import Consumer
from dramatiq.brokers.redis import RedisBroker
from dramatiq.errors import ActorNotFound
from dramatiq.middleware import Middleware, Retries, ShutdownNotifications, TimeLimit

from adapters import broker
from workers import actor, consumer, in_hand, process

# Three times the longest sum of inner time-outs (a webhook's ten seconds, a statement's fifteen).
_TIME_LIMIT_MS = 120_000
# Dramatiq gives back what a worker fetched that asked for nothing for this long; costs two range reads per fetch. The
# relay is sooner (workers.silence): this is for a process that died before it announced itself.
_HEARTBEAT_TIMEOUT_MS = 30_000
_ALWAYS_MAINTAIN = 1_000_000


# An idle consumer asks again after at most this long. A sale, its override and their deliveries are three hops, and
# each waits for one such look.
_IDLE_MS = 50


# Between two looks a consumer's threads work off what it fetched; jobs of a few milliseconds need more of it. Calls to
# other servers are slow, and what one process holds another could have begun.
_DEPTH = 4
_CALLS_OUT = frozenset({"webhooks", "payouts", "imports", "mail"})


class _Broker(RedisBroker):
    """Dramatiq's broker with three changes.

    Its consumers notice new work soon; Dramatiq's own idle for up to a second. They give back what was fetched and
    never came. And a job of a kind that this release does not know is given back, for a worker that does.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        #: Per queue the messages that this process fetched and has not finished, by the broker's own ids.
        self.in_hand: defaultdict[str, set[str]] = defaultdict(set)

    @property
    def consumer_class(self) -> type[consumer.QueueConsumer]:
        return consumer.QueueConsumer

    def consume(self, queue_name: str, prefetch: int = 1, timeout: int = 5000) -> Consumer:
        if queue_name.endswith(".DQ"):
            # Nothing is ever delayed in the broker, so its delay queues may be asked at leisure.
            return super().consume(queue_name, prefetch, timeout)
        depth = 1 if queue_name in _CALLS_OUT else _DEPTH
        return super().consume(queue_name, prefetch * depth, _IDLE_MS)

    def get_actor(self, actor_name: str) -> dramatiq.Actor[..., Any]:
        # While a release is rolled out, old workers meet jobs of new kinds; Dramatiq would bury those.
        try:
            return super().get_actor(actor_name)
        except ActorNotFound:
            return super().get_actor(actor.UNKNOWN)


def connect(redis_url: str) -> RedisBroker:
    """Make the broker for `redis_url` this process's, with every actor still to be declared on it."""
    middleware: list[Middleware] = [
        TimeLimit(time_limit=_TIME_LIMIT_MS),
        ShutdownNotifications(),
        Retries(max_retries=0),
        process.Connections(),
        process.Announcement(),
        process.ThreadWatchdog(),
        process.Numbers(),
    ]
    connected = _Broker(
        client=broker.client(redis_url),
        namespace=in_hand.NAMESPACE,
        maintenance_chance=_ALWAYS_MAINTAIN,
        heartbeat_timeout=_HEARTBEAT_TIMEOUT_MS,
        middleware=middleware,
    )
    dramatiq.set_broker(connected)
    return connected
