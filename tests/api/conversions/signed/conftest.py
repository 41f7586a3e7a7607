"""Fixtures of the tests in this folder."""

import pytest


@pytest.fixture
def shop(brand):
    brand.program()
    brand.affiliate("ben")
    return brand
