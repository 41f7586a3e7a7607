"""Fixtures: a brand's program, its tag, and a web site for the tag."""

import pytest

from tests.support.outside.brand_site import BrandSite


@pytest.fixture
def site():
    brand_site = BrandSite()
    yield brand_site
    brand_site.close()


@pytest.fixture
def program(brand):
    return str(brand.program())


@pytest.fixture
def tag(brand, program):
    """Return the tag from the install snippet."""
    return brand.get(f"/api/v1/r/install-snippet?programId={program}").json["snippet"]


@pytest.fixture
def address(program):
    return f"/api/v1/programs/{program}/install-check"
