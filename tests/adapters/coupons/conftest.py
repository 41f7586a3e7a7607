"""A rail whose gateway is played on this machine."""

import pytest

from tests.support.gateways.code_orders import build_rail
from tests.support.gateways.gateway_connections import point_service_at
from tests.support.gateways.stages import STAGES


@pytest.fixture
def playing(request, monkeypatch):
    """Play the gateway that a parameter names, or else the one that the tests are called by."""
    stage = STAGES[getattr(request, "param", request.module.__name__.rpartition("test_")[2])]()
    point_service_at(stage, monkeypatch)
    yield build_rail(stage)
    stage.stop()
