"""The machine on each of the brokers that may carry its messages; the tests of this folder run on every one."""

from collections.abc import Callable, Iterator
from typing import Protocol

import pytest

from tests.faults.brokers import rabbit
from tests.faults.brokers.alone import Alone
from tests.faults.brokers.rabbit import Rabbit
from tests.faults.brokers.sharded import Sharded
from tests.faults.brokers.watched import Watched
from tests.support.installation.machine import Machine


class Carrier(Protocol):
    """What the tests ask of a broker's installation."""

    environment: dict[str, str]

    def lose_primary(self) -> None: ...
    def demote_primary(self) -> None: ...
    def forget(self) -> None: ...
    def buried(self) -> list[bytes]: ...
    def close(self) -> None: ...


_CARRIERS: dict[str, Callable[[Machine], Carrier]] = {
    "valkey": Alone,
    "sentinel": lambda _: Watched(),
    "cluster": lambda _: Sharded(),
    "rabbitmq": lambda machine: Rabbit(machine.urls.redis_url),
}


@pytest.fixture(scope="package", params=list(_CARRIERS))
def carrier(request: pytest.FixtureRequest, _machine: Machine) -> Iterator[Carrier]:
    """Return a broker that carries the messages of every process of the machine."""
    if request.param == "rabbitmq" and rabbit.PROGRAM is None:
        pytest.skip("RabbitMQ is not installed")
    started = _CARRIERS[request.param](_machine)
    try:
        _machine.note(f"=== the broker is {request.param}")
        _machine.restore()
        _machine.restart_with_broker(started.environment)
        yield started
    finally:
        _machine.restart_with_broker({})
        started.close()
