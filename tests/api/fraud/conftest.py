"""A brand with a campaign and its affiliate ben."""

import pytest


@pytest.fixture
def affiliate_id(brand):
    brand.program()
    return brand.affiliate("ben")
