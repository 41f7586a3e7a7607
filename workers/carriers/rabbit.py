"""RabbitMQ as the carrier of pointers: queues that are replicated on several nodes, and survive each of them.

Fetched messages belong to the connection: when that ends, or is silent for a while, RabbitMQ requeues them. So nothing
is recovered here, and the messages of other processes are unknown.
"""

from typing import Any

import pika
import structlog
from dramatiq.broker import Consumer, MessageProxy
from dramatiq.brokers.rabbitmq import DEAD_MESSAGE_TTL, RabbitmqBroker, _RabbitmqConsumer
from dramatiq.common import xq_name

from workers.carriers.pointer_carrier import PointerCarrier, TrackingConsumer, prefetch_factor

_log = structlog.get_logger(__name__)

# Defaults if the address does not set them: the interval of heartbeats, and how long any step may take.
_HEARTBEAT_S = 10
_STEP_S = 5
_QUORUM = {"x-queue-type": "quorum"}
# A pointer whose job kills its workers would go from one to the next at once: after this many it is set aside, and the
# job is dispatched again after its lease, with its attempt counted.
_DELIVERY_LIMIT = {"x-delivery-limit": 3}


_Connection: Any = RabbitmqBroker.connection


class RabbitCarrier(PointerCarrier, RabbitmqBroker):
    """Dramatiq's broker on quorum queues, without the delay queues, which are not used here.

    Publishing does not wait until the disks of several nodes have a pointer: that is several times slower, and the job
    of a lost pointer is dispatched again after its lease.
    """

    def __init__(self, *, urls: tuple[str, ...], **options: Any) -> None:
        super().__init__(url=list(urls), **options)
        for parameters in self.parameters:
            _shorten_timeouts(parameters)

    @property
    def consumer_class(self) -> type["_QueueConsumer"]:
        return _QueueConsumer

    def consume(self, queue_name: str, prefetch: int = 1, timeout: int = 5000) -> Consumer:
        return super().consume(queue_name, prefetch * prefetch_factor(queue_name), timeout)

    def keep_alive(self) -> None:
        connection = getattr(self.state, "connection", None)
        if connection is not None:
            try:
                connection.process_data_events(time_limit=0)
            except pika.exceptions.AMQPError as error:
                _log.info("rabbit.connection_lost", error=type(error).__name__)
                del self.connection

    @property
    def connection(self) -> Any:
        return super().connection

    @connection.deleter
    def connection(self) -> None:
        _Connection.__delete__(self)
        # A restarted node may be empty.
        self.queues_pending.update(self.queues)

    def _build_queue_arguments(self, queue_name: str) -> dict[str, Any]:
        return super()._build_queue_arguments(queue_name) | _QUORUM | _DELIVERY_LIMIT

    def _declare_dq_queue(self, queue_name: str) -> None:
        """Declare nothing: the job table delays jobs."""

    def _declare_xq_queue(self, queue_name: str) -> Any:
        arguments = {"x-message-ttl": DEAD_MESSAGE_TTL} | _QUORUM
        return self.channel.queue_declare(queue=xq_name(queue_name), durable=True, arguments=arguments)


class _QueueConsumer(TrackingConsumer, _RabbitmqConsumer):
    def __init__(self, broker: Any, queue_name: str, prefetch: int, timeout: int) -> None:
        super().__init__(broker, queue_name, prefetch, timeout)
        self._unacknowledged = broker.unacknowledged[queue_name]

    def _name(self, message: MessageProxy) -> str:
        return f"{message.message_id}.{message._tag}"


def _shorten_timeouts(parameters: pika.URLParameters) -> None:
    usual = pika.ConnectionParameters()
    for name, value in (
        ("heartbeat", _HEARTBEAT_S),
        ("socket_timeout", _STEP_S),
        ("stack_timeout", _STEP_S),
        ("blocked_connection_timeout", _STEP_S),
    ):
        if getattr(parameters, name) == getattr(usual, name):
            setattr(parameters, name, value)
