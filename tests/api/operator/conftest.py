"""An operator at the console."""

import pytest

from tests.support.outside.console import Console


@pytest.fixture
def console(app):
    """An operator who signed in."""
    return Console(app)
