"""An idle consumer blocks at the broker and is woken by a message."""

import threading
from collections.abc import Callable, Iterator
from uuid import uuid4

import dramatiq
import pytest

from adapters.embedded.data_folder import wait_until
from workers.carriers import fetched_messages
from workers.carriers.consumer import QueueConsumer

_PATIENCE_S = 60


class PolledConsumers:
    """Consumers of a separate queue, each polled by a thread like in a worker process."""

    def __init__(self) -> None:
        self.queue = f"waiting-{uuid4()}"
        self.received: list[int] = []
        self._is_stopped = threading.Event()
        self._threads: list[threading.Thread] = []

    def start(self) -> QueueConsumer:
        """Start one more consumer."""
        consumer = dramatiq.get_broker().consume(self.queue, prefetch=2)
        self._threads.append(threading.Thread(target=self._poll, args=(consumer,), daemon=True))
        self._threads[-1].start()
        return consumer

    def send(self, *numbers: int) -> None:
        """Push messages."""
        for number in numbers:
            dramatiq.get_broker().enqueue(dramatiq.Message(self.queue, "none", (number,), {}, {}))

    def stop(self) -> None:
        """End the threads."""
        self._is_stopped.set()
        for thread in self._threads:
            thread.join(_PATIENCE_S)

    def _poll(self, consumer: QueueConsumer) -> None:
        while not self._is_stopped.is_set():
            message = next(consumer)
            if message is not None:
                self.received.append(message.args[0])
                consumer.ack(message)


@pytest.fixture
def polled_consumers(app) -> Iterator[PolledConsumers]:
    consumers = PolledConsumers()
    yield consumers
    consumers.stop()


def _wait_until(condition: Callable[[], bool]) -> None:
    assert wait_until(condition, timeout_s=_PATIENCE_S)


def _count_blocked() -> int:
    """Return the number of connections that are blocked at the broker now."""
    clients = dramatiq.get_broker().client.client_list()
    return sum(client["cmd"] == "blmove" and "b" in client["flags"] for client in clients)


def test_idle_consumer_waits_at_the_broker_without_messages(polled_consumers):
    before, broker = _count_blocked(), dramatiq.get_broker()

    polled_consumers.start()
    _wait_until(lambda: _count_blocked() > before)

    assert broker.client.exists(fetched_messages.set_key(broker.client, broker.broker_id, polled_consumers.queue)) == 0


def test_waiting_consumer_receives_messages_once_and_in_order(polled_consumers):
    before = _count_blocked()
    polled_consumers.start()
    _wait_until(lambda: _count_blocked() > before)

    polled_consumers.send(*range(20))
    _wait_until(lambda: len(polled_consumers.received) >= 20)

    assert polled_consumers.received == list(range(20))


def test_one_of_several_waiting_consumers_receives_each_message(polled_consumers):
    before = _count_blocked()
    for _ in range(4):
        polled_consumers.start()
    _wait_until(lambda: _count_blocked() >= before + 4)

    polled_consumers.send(*range(20))
    _wait_until(lambda: len(polled_consumers.received) >= 20)
    polled_consumers.stop()

    assert sorted(polled_consumers.received) == list(range(20))


def test_woken_consumer_takes_no_message_and_keeps_the_order(app):
    broker, queue = dramatiq.get_broker(), f"called-{uuid4()}"
    consumer = broker.consume(queue)
    for number in range(3):
        broker.enqueue(dramatiq.Message(queue, "none", (number,), {}, {}))
    waits = broker.client.lrange(fetched_messages.list_key(broker.client, queue), 0, -1)

    assert consumer._wait_for_message()

    assert broker.client.lrange(fetched_messages.list_key(broker.client, queue), 0, -1) == waits
    assert broker.client.exists(fetched_messages.set_key(broker.client, broker.broker_id, queue)) == 0
    received = [next(consumer) for _ in waits]
    assert [message.args[0] for message in received] == [0, 1, 2]
    for message in received:
        consumer.ack(message)
