"""The machine on each of the brokers that may carry its messages; the tests of this folder run on every one."""

from collections.abc import Callable, Iterator
from typing import Protocol

import pytest

from tests.support.carriers import rabbit
from tests.support.carriers.alone import Alone
from tests.support.carriers.rabbit import Rabbit
from tests.support.carriers.sharded import Sharded
from tests.support.carriers.watched import Watched
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
        _machine.carry_by(started.environment)
        yield started
    finally:
        _machine.carry_by({})
        started.close()
