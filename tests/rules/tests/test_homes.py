"""A killed run leaves its data folder; the next run removes it, but no folder of a live run."""

import signal
import subprocess
import sys
from pathlib import Path

from adapters.embedded import server_pair
from tests.support.running import homes

_ROOT = Path(__file__).parents[3]
_RUN = """
import pathlib, sys, time
from tests.support.running import homes
lock = homes.lock_home(pathlib.Path(sys.argv[1]))
print("held", flush=True)
time.sleep(600)
"""


def test_only_the_folder_of_a_killed_run_is_removed(tmp_path):
    killed, running, other = (tmp_path / f"{homes.PREFIX}{name}" for name in ("1", "2", "3"))
    other.mkdir()
    with _start_run(killed) as first, _start_run(running) as second:
        assert homes.remove_abandoned(tmp_path) == []

        first.send_signal(signal.SIGKILL)
        first.wait()

        assert homes.remove_abandoned(tmp_path) == [killed]
        assert sorted(tmp_path.iterdir()) == [running, other]
        second.kill()


def test_servers_of_a_killed_run_are_stopped(tmp_path):
    home = tmp_path / f"{homes.PREFIX}1"
    homes.lock_home(home).close()
    server_pair.start(home, postgres=False, durable=False)

    assert homes.remove_abandoned(tmp_path) == [home]
    assert not home.exists()
    assert server_pair.status(home)["valkey"] == "stopped"


def _start_run(home: Path) -> subprocess.Popen[str]:
    """Start a process that locks a folder; return once it holds the lock."""
    run = subprocess.Popen([sys.executable, "-c", _RUN, str(home)], cwd=_ROOT, stdout=subprocess.PIPE, text=True)
    assert run.stdout is not None
    assert run.stdout.readline() == "held\n"
    return run
