"""A brand with a program, its tag, and a web site to put it on."""

import pytest

from tests.support.outside.brand_site import BrandSite


@pytest.fixture
def site():
    made = BrandSite()
    yield made
    made.close()


@pytest.fixture
def program(brand):
    return str(brand.program())


@pytest.fixture
def tag(brand, program):
    """The tag as it is handed out."""
    return brand.get(f"/api/v1/r/install-snippet?programId={program}").json["snippet"]


@pytest.fixture
def address(program):
    return f"/api/v1/programs/{program}/install-check"
