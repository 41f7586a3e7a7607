"""A brand with a campaign and its affiliate ben."""

import pytest


@pytest.fixture
def shop(brand):
    brand.program()
    brand.affiliate("ben")
    return brand
