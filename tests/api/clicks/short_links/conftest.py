"""Fixture: a link to the site that the brand's campaign promotes."""

import pytest

from tests.support.rows.link_visits import (
    SHOP,
    new_slug,
)


@pytest.fixture
def slug(brand):
    """Return the slug of an Approved affiliate; the brand's program leads to SHOP."""
    brand.program(referral_destination_url=SHOP)
    slug = new_slug()
    brand.affiliate(slug)
    return slug
