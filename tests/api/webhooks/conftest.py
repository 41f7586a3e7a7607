"""Fixture: a webhook endpoint at a real receiver."""

import pytest


@pytest.fixture
def endpoint(brand, receiver):
    """An endpoint of the brand at the receiver, subscribed to every event."""
    return brand.endpoint(receiver.url)
