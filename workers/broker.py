"""Dramatiq's broker as this service uses it: a carrier of pointers, without retries, delays or results of its own.

The job table retries, delays and keeps dead letters; Dramatiq brings processes, threads, time limits and shutdown.
Its own dead-letter set stays empty: anything in it raises an alarm.
"""

import dramatiq
from dramatiq.middleware import Middleware, Retries, ShutdownNotifications, TimeLimit

from adapters import broker
from settings import broker_address
from workers import process
from workers.carriers.fair_queue import FairThreads
from workers.carriers.pointer_carrier import PointerCarrier
from workers.carriers.valkey import ValkeyCarrier

# Three times the longest sum of inner time-outs (a webhook's ten seconds, a statement's fifteen).
_TIME_LIMIT_MS = 120_000


def connect(redis_url: str, broker_url: str | None = None) -> PointerCarrier:
    """Set the broker of this process, on which every actor is declared later. Opens no connection yet.

    `broker_url` is a RabbitMQ that carries the pointers, if there is one.
    """
    middleware: list[Middleware] = [
        TimeLimit(time_limit=_TIME_LIMIT_MS),
        ShutdownNotifications(),
        Retries(max_retries=0),
        FairThreads(),
        process.Connections(),
        process.Announcement(),
        process.ThreadWatchdog(),
        process.MetricsServer(),
        process.SpanFlush(),
    ]
    connected = _carrier(redis_url, broker_url, middleware)
    dramatiq.set_broker(connected)
    return connected


def _carrier(redis_url: str, broker_url: str | None, middleware: list[Middleware]) -> PointerCarrier:
    if broker_url is None:
        return ValkeyCarrier(client=broker.client(redis_url), middleware=middleware)
    from workers.carriers.rabbit import RabbitCarrier  # its client is an extra

    return RabbitCarrier(urls=broker_address.parse_amqp(broker_url), middleware=middleware)
