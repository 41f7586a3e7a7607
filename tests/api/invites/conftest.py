"""A campaign to invite to."""

import pytest


@pytest.fixture
def campaign(brand):
    """The brand with one campaign."""
    brand.program(name="Spring")
    return brand
