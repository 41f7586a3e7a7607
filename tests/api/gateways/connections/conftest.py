"""Fixtures of the tests in this folder."""

import pytest


@pytest.fixture
def path(shop):
    """Where the shop's connection is."""
    return f"/api/v1/connections/{shop.connection['id']}"
