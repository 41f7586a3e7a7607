"""The Makefile's targets name only existing tests: pytest runs no test at all if one path is missing."""

import subprocess
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("target", ["test", "long", "faults", "browser", "brokers"])
def test_paths_of_a_target_exist(target):
    command = subprocess.run(
        ["make", "-n", "-o", ".venv/.dev", target], cwd=_ROOT, capture_output=True, text=True, check=True
    ).stdout
    paths = [word.removeprefix("--ignore=") for word in command.split() if "tests/" in word]

    assert paths
    assert [path for path in paths if not (_ROOT / path).exists()] == []
