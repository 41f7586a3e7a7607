"""A test run ended by a signal leaves no server running."""

import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from adapters.embedded import server_pair

_ROOT = Path(__file__).parents[3]
_PATIENCE_S = 120
_START_SERVERS = """
import pathlib, sys, time
from adapters.embedded import server_pair
server_pair.start(pathlib.Path(sys.argv[1]), durable=False)
print("started", flush=True)
time.sleep({seconds})
"""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets a process adopt orphans")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_run_ended_by_a_signal_leaves_no_server(tmp_path, number):
    with _start_run(tmp_path, seconds=600) as run:
        assert run.stdout.readline() == "started\n"

        os.killpg(run.pid, number)

        assert run.wait(_PATIENCE_S) == 128 + number
    assert server_pair.status(tmp_path) == {"postgres": "stopped", "valkey": "stopped"}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_run_of_an_ended_make_leaves_no_server(tmp_path, number):
    command = shlex.join(_build_command(tmp_path, seconds=600)).replace("$", "$$")
    (tmp_path / "Makefile").write_text(f"test:\n\t@exec env A= {command}\n")
    with _start_process(["make", "-f", str(tmp_path / "Makefile"), "test"]) as make:
        assert make.stdout.readline() == "started\n"

        make.send_signal(number)

        make.wait(_PATIENCE_S)
        assert make.stdout.read() == ""  # no descendant of make still holds its output
    assert server_pair.status(tmp_path) == {"postgres": "stopped", "valkey": "stopped"}


def test_finished_run_keeps_its_status_and_leaves_no_server(tmp_path):
    with _start_run(tmp_path, seconds=0) as run:
        assert run.wait(_PATIENCE_S) == 0
    assert server_pair.status(tmp_path) == {"postgres": "stopped", "valkey": "stopped"}


def test_status_of_a_failed_command_is_passed_on():
    run = subprocess.run([sys.executable, "-m", "tests.reaper", "sh", "-c", "exit 7"], cwd=_ROOT, check=False)

    assert run.returncode == 7


def test_process_ignoring_term_and_quit_is_killed(tmp_path):
    orphan = 'trap "" TERM QUIT; echo $$ > "$0"; while :; do sleep 1; done'
    script = f'(setsid sh -c \'{orphan}\' "$0" &); while ! [ -s "$0" ]; do sleep 0.1; done'
    pid_file = tmp_path / "pid"

    subprocess.run([sys.executable, "-m", "tests.reaper", "sh", "-c", script, str(pid_file)], cwd=_ROOT, check=True)

    with pytest.raises(ProcessLookupError):
        os.kill(int(pid_file.read_text()), 0)


def _start_run(folder: Path, *, seconds: int) -> subprocess.Popen[str]:
    """Start a reaper with a command that starts both servers and ends after `seconds`."""
    return _start_process(_build_command(folder, seconds=seconds))


def _build_command(folder: Path, *, seconds: int) -> list[str]:
    program = folder / "start_servers.py"
    program.write_text(_START_SERVERS.format(seconds=seconds))
    return [sys.executable, "-m", "tests.reaper", sys.executable, str(program), str(folder)]


def _start_process(command: list[str]) -> subprocess.Popen[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    environment["PYTHONPATH"] = str(_ROOT)
    # The parent of the tests may ignore signals (nohup, a background shell), and children inherit that.
    command = ["env", "--default-signal=HUP,INT,TERM", *command]
    return subprocess.Popen(
        command, cwd=_ROOT, env=environment, stdout=subprocess.PIPE, text=True, start_new_session=True
    )
