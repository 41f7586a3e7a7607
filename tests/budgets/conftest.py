"""A fixture that tables of budgets share."""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    """Close at the end of a test what it entered."""
    with ExitStack() as entered:
        yield entered
