"""A till on the machine: a shop whose gateway is played at the address that every process knows."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.support.gateways.card.stripe import StripeStage
from tests.support.installation.gateway_shop import GatewayShop
from tests.support.installation.machine import Machine


@pytest.fixture
def stage(machine: Machine) -> Iterator[StripeStage]:
    """Return stripe, where the machine expects every gateway."""
    playing = StripeStage(machine.gateway_port)
    yield playing
    playing.stop()


@pytest.fixture
def till(machine: Machine, stage: StripeStage) -> Iterator[GatewayShop]:
    """Return a new shop with a connection to stripe."""
    with closing(GatewayShop(machine, stage)) as opened:
        yield opened
