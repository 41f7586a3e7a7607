"""A coupon rail whose gateway is simulated on this machine."""

import pytest

from tests.support.gateways.code_orders import build_rail
from tests.support.gateways.gateway_connections import point_service_at
from tests.support.gateways.stages import STAGES


@pytest.fixture
def simulated_rail(request, monkeypatch):
    """Simulate the gateway named by the parameter, by default the one in the test module's name."""
    stage = STAGES[getattr(request, "param", request.module.__name__.rpartition("test_")[2])]()
    point_service_at(stage, monkeypatch)
    yield build_rail(stage)
    stage.stop()
