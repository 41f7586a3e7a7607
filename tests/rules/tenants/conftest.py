"""The two tenants that a file compares."""

import pytest

from tests.rules.tenants import full_tenants
from tests.rules.test_audit import simulated_services

__all__ = ["simulated_services", "tenants"]


@pytest.fixture(scope="module")
def tenants(app):
    """Return two tenants, each with a row of each kind."""
    return full_tenants.create(app), full_tenants.create(app)
