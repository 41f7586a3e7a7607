"""Fixtures of the tests in this folder."""

import pytest


@pytest.fixture
def campaign(brand):
    """Return the brand with one campaign at 20 % and the affiliate ben."""
    brand.program()
    brand.affiliate("ben")
    return brand
