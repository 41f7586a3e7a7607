"""A gateway that is played on this machine."""

import pytest

from adapters.gateways.card import paypal
from adapters.gateways.storefront import shopify_api, wix
from adapters.gateways.tokens import AccessTokens
from tests.support.gateways.gateway_connections import point_service_at
from tests.support.gateways.stages import STAGES


@pytest.fixture
def stage(request, monkeypatch):
    """Play the gateway that a parameter names, or else the one that the tests are called by."""
    playing = STAGES[getattr(request, "param", request.module.__name__.rpartition("test_")[2])]()
    point_service_at(playing, monkeypatch)
    for module in (paypal, shopify_api, wix):  # an earlier stage on this very port gave tokens of its own
        monkeypatch.setattr(module, "_TOKENS", AccessTokens())
    yield playing
    playing.stop()
