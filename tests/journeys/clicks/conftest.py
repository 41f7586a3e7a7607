"""A program that pays for clicks, and its affiliate."""

import pytest


@pytest.fixture
def click_brand(brand):
    """A brand whose program pays 10 US cents a click."""
    brand.program(click_reward_cents=10)
    return brand


@pytest.fixture
def ben(click_brand):
    return click_brand.affiliate("ben")
