"""A link of the brand to the site that its campaign promotes."""

import pytest

from tests.support.rows.link_visits import (
    SHOP,
    new_slug,
)


@pytest.fixture
def slug(brand):
    """The brand has a program that leads to SHOP and an Approved affiliate with this slug."""
    brand.program(referral_destination_url=SHOP)
    slug = new_slug()
    brand.affiliate(slug)
    return slug
