"""A campaign to import into."""

import pytest


@pytest.fixture
def campaign(brand):
    """The brand with one campaign and Ben in it, listening to every event."""
    brand.program()
    brand.affiliate("ben")
    brand.endpoint("https://localhost/hook")
    return brand
