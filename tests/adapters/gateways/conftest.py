"""A gateway simulated on this machine."""

import pytest

from adapters.gateways.card import paypal
from adapters.gateways.storefront import shopify_api, wix
from adapters.gateways.tokens import AccessTokens
from tests.support.gateways.playing import lead_to
from tests.support.gateways.stages import STAGES


@pytest.fixture
def stage(request, monkeypatch):
    """Simulate the gateway named by the parameter, by default the one in the test module's name."""
    simulated = STAGES[getattr(request, "param", request.module.__name__.rpartition("test_")[2])]()
    lead_to(simulated, monkeypatch)
    for module in (paypal, shopify_api, wix):  # tokens of an earlier stage on the same port are cached
        monkeypatch.setattr(module, "_TOKENS", AccessTokens())
    yield simulated
    simulated.stop()
