"""A fixture for the tests of budgets."""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    """Yield a stack of context managers that is closed at the end of the test."""
    with ExitStack() as exit_stack:
        yield exit_stack
