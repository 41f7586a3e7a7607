"""A campaign to apply to."""

import pytest


@pytest.fixture
def campaign(brand):
    """The brand with one campaign, listening to every event."""
    brand.program()
    brand.endpoint("https://localhost/hook")
    return brand
