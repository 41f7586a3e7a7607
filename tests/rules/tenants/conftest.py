"""Two tenants for the comparisons of a file."""

import pytest

from tests.rules.tenants import full_tenants
from tests.rules.test_audit import played_services

__all__ = ["played_services", "tenants"]


@pytest.fixture(scope="module")
def tenants(app):
    """A tenant and its rival, each with a row of each kind."""
    return full_tenants.make(app), full_tenants.make(app)
