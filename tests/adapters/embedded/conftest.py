"""A data folder whose servers a test may start."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from adapters.embedded import server_pair


@pytest.fixture(scope="module")
def _initialized_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("embedded") / "used"
    server_pair.start(folder, durable=False)
    server_pair.stop(folder)
    return folder


@pytest.fixture
def used_dir(_initialized_dir: Path) -> Iterator[Path]:
    """A data folder that is already initialized, with its servers stopped; saves the time of initdb."""
    yield _initialized_dir
    server_pair.stop(_initialized_dir)
