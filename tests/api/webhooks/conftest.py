"""Fixtures of the tests in this folder."""

import pytest


@pytest.fixture
def endpoint(brand, receiver):
    """An endpoint of the brand that leads to the receiver and hears everything."""
    return brand.endpoint(receiver.url)
