"""An operator at the console."""

import pytest

from tests.support.outside.console import Console


@pytest.fixture
def console(app):
    """A signed-in operator."""
    return Console(app)
