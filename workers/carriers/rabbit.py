"""RabbitMQ as the carrier of pointers: queues that several nodes keep, and that outlive each of them.

What a process has belongs to its connection: when that ends, or says nothing for a while, RabbitMQ gives it to another.
So nothing has to be looked for here, and nothing in hand is known of others.
"""

from typing import Any

import pika
import structlog
from dramatiq.broker import Consumer, MessageProxy
from dramatiq.brokers.rabbitmq import DEAD_MESSAGE_TTL, RabbitmqBroker, _RabbitmqConsumer
from dramatiq.common import xq_name

from workers.carriers.ours import PointerCarrier, RemembersWhatItHas, depth

_log = structlog.get_logger(__name__)

# Unless the address says otherwise: how often both sides say that they are there, and how long any step may take.
_HEARTBEAT_S = 10
_STEP_S = 5
_QUORUM = {"x-queue-type": "quorum"}
# A pointer whose job kills its workers would go from one to the next at once: after so many it is set aside, and the
# job comes back by its lease, with its attempt counted.
_MOST_TIMES_BACK = {"x-delivery-limit": 3}


_Connection: Any = RabbitmqBroker.connection


class RabbitCarrier(PointerCarrier, RabbitmqBroker):
    """Dramatiq's broker on quorum queues, without the delay queues that nobody here uses.

    Nobody waits until the disks of several nodes have a pointer: that is several times slower, and one that is lost
    comes back by its lease.
    """

    def __init__(self, *, urls: tuple[str, ...], **options: Any) -> None:
        super().__init__(url=list(urls), **options)
        for parameters in self.parameters:
            _be_impatient(parameters)

    @property
    def consumer_class(self) -> type["_QueueConsumer"]:
        return _QueueConsumer

    def consume(self, queue_name: str, prefetch: int = 1, timeout: int = 5000) -> Consumer:
        return super().consume(queue_name, prefetch * depth(queue_name), timeout)

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
        # A node that comes back may come back empty.
        self.queues_pending.update(self.queues)

    def _build_queue_arguments(self, queue_name: str) -> dict[str, Any]:
        return super()._build_queue_arguments(queue_name) | _QUORUM | _MOST_TIMES_BACK

    def _declare_dq_queue(self, queue_name: str) -> None:
        """Declare nothing: delays are the job table's."""

    def _declare_xq_queue(self, queue_name: str) -> Any:
        arguments = {"x-message-ttl": DEAD_MESSAGE_TTL} | _QUORUM
        return self.channel.queue_declare(queue=xq_name(queue_name), durable=True, arguments=arguments)


class _QueueConsumer(RemembersWhatItHas, _RabbitmqConsumer):
    def __init__(self, broker: Any, queue_name: str, prefetch: int, timeout: int) -> None:
        super().__init__(broker, queue_name, prefetch, timeout)
        self._in_hand = broker.in_hand[queue_name]

    def _name(self, message: MessageProxy) -> str:
        return f"{message.message_id}.{message._tag}"


def _be_impatient(parameters: pika.URLParameters) -> None:
    usual = pika.ConnectionParameters()
    for name, ours in (
        ("heartbeat", _HEARTBEAT_S),
        ("socket_timeout", _STEP_S),
        ("stack_timeout", _STEP_S),
        ("blocked_connection_timeout", _STEP_S),
    ):
        if getattr(parameters, name) == getattr(usual, name):
            setattr(parameters, name, ours)
