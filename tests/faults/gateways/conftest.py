"""A shop with a fake gateway, at the address that every process of the installation calls."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.support.gateways.card.stripe import StripeStage
from tests.support.installation.gateway_shop import GatewayShop
from tests.support.installation.machine import Machine


@pytest.fixture
def stage(machine: Machine) -> Iterator[StripeStage]:
    """Return a fake Stripe at the address of the gateways."""
    stage = StripeStage(machine.gateway_port)
    yield stage
    stage.stop()


@pytest.fixture
def shop(machine: Machine, stage: StripeStage) -> Iterator[GatewayShop]:
    """Return a new shop that is connected to the fake Stripe."""
    with closing(GatewayShop(machine, stage)) as shop:
        yield shop
