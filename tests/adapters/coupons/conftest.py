"""A coupon rail whose gateway is simulated on this machine."""

import pytest

from tests.support.gateways.ordering import played_rail
from tests.support.gateways.playing import lead_to
from tests.support.gateways.stages import STAGES


@pytest.fixture
def simulated_rail(request, monkeypatch):
    """Simulate the gateway named by the parameter, by default the one in the test module's name."""
    stage = STAGES[getattr(request, "param", request.module.__name__.rpartition("test_")[2])]()
    lead_to(stage, monkeypatch)
    yield played_rail(stage)
    stage.stop()
