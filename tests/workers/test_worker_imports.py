"""Worker processes and the process of the loops import only the modules that their jobs need."""

import subprocess
import sys
from pathlib import Path

import pytest

from domain.jobs import QUEUES

_ROOT = Path(__file__).parents[2]
_WORKER = """
import sys
sys.argv = [sys.executable, "-m", "workers", "-Q", {queue!r}, "-p", "1"]
import workers.__main__
workers.__main__.load()
"""
_LOOPS = "import app, commands.service.processes"
# Each takes from one megabyte to eight.
_HEAVY = {
    "charset_normalizer",
    "dns",
    "email_validator",
    "flask.app",
    "httpx",
    "joserfc",
    "marshmallow",
    "nh3",
    "opentelemetry.sdk",
    "pygments",
    "rich",
    "stripe",
}
_QUEUES = "{name.removeprefix('workers.queues.') for name in sys.modules if name.startswith('workers.queues.')}"


def _list_modules(script: str, tmp_path: Path) -> str:
    program = f"{script}\nimport sys\nprint(sorted({_HEAVY!r} & set(sys.modules)), sorted({_QUEUES}))"
    environment = {"DATA_DIR": str(tmp_path / "none")}
    result = subprocess.run([sys.executable, "-c", program], cwd=_ROOT, env=environment, capture_output=True, text=True)
    assert result.stderr == ""
    return result.stdout.strip()


@pytest.mark.parametrize("queue", ["sales", "webhooks"])
def test_worker_loads_only_actors_of_its_queues_and_their_imports(queue, tmp_path):
    assert _list_modules(_WORKER.format(queue=queue), tmp_path) == f"[] ['{queue}']"


@pytest.mark.parametrize("queue", QUEUES)
def test_worker_loads_no_optional_libraries(queue, tmp_path):
    loaded = _list_modules(_WORKER.format(queue=queue), tmp_path)

    assert not {"charset_normalizer", "httpx", "opentelemetry.sdk", "pygments", "rich"} & set(loaded.split("'"))


def test_loops_load_no_pages_and_no_gateways(tmp_path):
    loaded = _list_modules(_LOOPS, tmp_path)

    unneeded = {"charset_normalizer", "email_validator", "httpx", "joserfc", "marshmallow", "nh3", "rich", "stripe"}
    assert not unneeded & set(loaded.split("'"))
