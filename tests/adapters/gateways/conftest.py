"""A gateway simulated on this machine."""

import pytest

from adapters.gateways.card import paypal
from adapters.gateways.storefront import shopify_api, wix
from adapters.gateways.tokens import AccessTokens
from tests.support.gateways.gateway_connections import point_service_at
from tests.support.gateways.stages import STAGES


@pytest.fixture
def stage(request, monkeypatch):
    """Simulate the gateway named by the parameter, by default the one in the test module's name."""
    simulated = STAGES[getattr(request, "param", request.module.__name__.rpartition("test_")[2])]()
    point_service_at(simulated, monkeypatch)
    for module in (paypal, shopify_api, wix):  # tokens of an earlier stage on the same port are cached
        monkeypatch.setattr(module, "_TOKENS", AccessTokens())
    yield simulated
    simulated.stop()
