"""Runs the tests of this folder with each kind of broker installation."""

from collections.abc import Callable, Iterator
from typing import Protocol

import pytest

from tests.faults.brokers import rabbitmq
from tests.faults.brokers.rabbitmq import RabbitMQ
from tests.faults.brokers.single_valkey import SingleValkey
from tests.faults.brokers.valkey_cluster import ValkeyCluster
from tests.faults.brokers.valkey_sentinel import ValkeySentinel
from tests.support.installation.machine import Machine


class BrokerInstallation(Protocol):
    """A running broker that tests can make fail."""

    environment: dict[str, str]

    def lose_primary(self) -> None: ...
    def demote_primary(self) -> None: ...
    def lose_messages(self) -> None: ...
    def list_dead_letters(self) -> list[bytes]: ...
    def close(self) -> None: ...


_INSTALLATIONS: dict[str, Callable[[Machine], BrokerInstallation]] = {
    "valkey": SingleValkey,
    "sentinel": lambda _: ValkeySentinel(),
    "cluster": lambda _: ValkeyCluster(),
    "rabbitmq": lambda machine: RabbitMQ(machine.urls.redis_url),
}


@pytest.fixture(scope="package", params=list(_INSTALLATIONS))
def broker_installation(request: pytest.FixtureRequest, _machine: Machine) -> Iterator[BrokerInstallation]:
    """Return the broker installation that all processes use."""
    if request.param == "rabbitmq" and rabbitmq.PROGRAM is None:
        pytest.skip("RabbitMQ is not installed")
    installation = _INSTALLATIONS[request.param](_machine)
    try:
        _machine.note(f"=== the broker is {request.param}")
        _machine.restore()
        _machine.restart_with_broker(installation.environment)
        yield installation
    finally:
        _machine.restart_with_broker({})
        installation.close()
