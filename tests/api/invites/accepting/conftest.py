"""A campaign with a description and a webhook endpoint."""

import pytest


@pytest.fixture
def campaign(brand):
    """The brand with one campaign, listening to every event."""
    brand.program(name="Spring", description="Tea <b>and</b> more")
    brand.endpoint("https://localhost/hook")
    return brand
