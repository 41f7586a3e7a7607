"""Fixture: a shop that collects leads."""

import pytest

from tests.support.rows.leads import slug_of


@pytest.fixture
def shop(brand):
    brand.program()
    brand.affiliate(slug_of(brand))
    return brand
