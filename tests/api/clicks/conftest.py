"""Fixture: a link that can earn."""

import pytest

from tests.support.rows.link_visits import new_slug


@pytest.fixture
def slug(brand):
    """Return the slug of an Approved affiliate of the brand's program."""
    brand.program(cookie_window_days=45, attribution_model="FirstTouch")
    slug = new_slug()
    brand.affiliate(slug)
    return slug
