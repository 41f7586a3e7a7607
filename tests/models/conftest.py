"""A fixture for a database without migrations."""

from collections.abc import Iterator

import pytest

from tests.support import databases


@pytest.fixture
def empty_database() -> Iterator[str]:
    """Yield the owner's URL of a database without tables."""
    with databases.empty_database() as url:
        yield url
