"""Fixtures of the tests in this folder."""

import pytest


@pytest.fixture
def path(shop):
    """Return the API path of the shop's connection."""
    return f"/api/v1/connections/{shop.connection['id']}"
