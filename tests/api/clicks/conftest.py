"""A link that can earn."""

import pytest

from tests.support.rows.link_visits import new_slug


@pytest.fixture
def slug(brand):
    """The brand has a program and an Approved affiliate with this slug."""
    brand.program(cookie_window_days=45, attribution_model="FirstTouch")
    slug = new_slug()
    brand.affiliate(slug)
    return slug
