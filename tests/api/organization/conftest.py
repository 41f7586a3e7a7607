"""Fixtures of the tests in this folder."""

import pytest

from tests.support.rows.brands import Brand


@pytest.fixture
def owner(brand):
    """Return the brand through its Owner's dashboard session."""
    return brand.person("Owner")


@pytest.fixture
def admin(brand):
    """Return the brand through an Admin's dashboard session."""
    return brand.person("Admin")


@pytest.fixture
def pro(app):
    """Return a brand whose keys may change the home currency."""
    return Brand.create(app, plan="Pro")
