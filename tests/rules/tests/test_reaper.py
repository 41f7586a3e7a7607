"""A run of tests that is ended by a signal leaves no server running."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from adapters.embedded import pair

_ROOT = Path(__file__).parents[3]
_PATIENCE_S = 120
_STARTS_SERVERS = """
import pathlib, sys, time
from adapters.embedded import pair
pair.start(pathlib.Path(sys.argv[1]), durable=False)
print("started", flush=True)
time.sleep({seconds})
"""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets a process adopt orphans")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_run_ended_by_a_signal_leaves_no_server(tmp_path, number):
    with _started(tmp_path, seconds=600) as run:
        assert run.stdout.readline() == "started\n"

        os.killpg(run.pid, number)

        assert run.wait(_PATIENCE_S) == 128 + number
    assert pair.status(tmp_path) == {"postgres": "stopped", "valkey": "stopped"}


def test_run_that_ends_by_itself_keeps_its_status_and_leaves_no_server(tmp_path):
    with _started(tmp_path, seconds=0) as run:
        assert run.wait(_PATIENCE_S) == 0
    assert pair.status(tmp_path) == {"postgres": "stopped", "valkey": "stopped"}


def test_status_of_a_failed_command_is_passed_on():
    run = subprocess.run([sys.executable, "-m", "tests.reaper", "sh", "-c", "exit 7"], cwd=_ROOT, check=False)

    assert run.returncode == 7


def test_process_that_ignores_polite_signals_is_killed(tmp_path):
    orphan = 'trap "" TERM QUIT; echo $$ > "$0"; sleep 600; sleep 600'
    script = f'(setsid sh -c \'{orphan}\' "$0" &); while ! [ -s "$0" ]; do sleep 0.1; done'
    pid_file = tmp_path / "pid"

    subprocess.run([sys.executable, "-m", "tests.reaper", "sh", "-c", script, str(pid_file)], cwd=_ROOT, check=True)

    with pytest.raises(ProcessLookupError):
        os.kill(int(pid_file.read_text()), 0)


@contextmanager
def _started(folder: Path, *, seconds: int) -> Iterator[subprocess.Popen[str]]:
    """Start a reaper whose command starts both servers and ends after so many seconds."""
    script = _STARTS_SERVERS.format(seconds=seconds)
    command = [sys.executable, "-m", "tests.reaper", sys.executable, "-c", script, str(folder)]
    with subprocess.Popen(command, cwd=_ROOT, stdout=subprocess.PIPE, text=True, start_new_session=True) as run:
        yield run
