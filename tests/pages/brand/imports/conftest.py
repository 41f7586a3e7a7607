"""A brand with a program and an affiliate, and its Owner in a browser."""

import pytest


@pytest.fixture
def campaign(brand):
    brand.program()
    brand.affiliate("ben")
    return brand


@pytest.fixture
def owner(campaign, visitor, links):
    visitor.open(links("owner"))
    return visitor
