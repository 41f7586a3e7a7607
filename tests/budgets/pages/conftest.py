"""What the budgets of pages share."""

import pytest

from models import db


@pytest.fixture
def trips():
    """The round trips to the database since the test began, each as it was sent; a test may empty it."""
    found = []
    db.db.trip_hooks.append(found.append)
    yield found
    db.db.trip_hooks.remove(found.append)
