"""A program that pays for clicks, and its affiliate."""

import pytest


@pytest.fixture
def paying(brand):
    """A program that pays 10 US cents a click."""
    brand.program(click_reward_cents=10)
    return brand


@pytest.fixture
def ben(paying):
    return paying.affiliate("ben")
