"""A database that nothing was migrated in yet."""

from collections.abc import Iterator

import pytest

from tests.support import databases


@pytest.fixture
def empty_database() -> Iterator[str]:
    """The owner's URL of a database without a table."""
    with databases.empty_database() as url:
        yield url
