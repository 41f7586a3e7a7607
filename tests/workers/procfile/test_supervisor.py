"""The supervisor with real processes: restarts, stops, and no process left running."""

import io
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from workers.procfile import child, supervisor

_ROOT = Path(__file__).parents[3]
_PATIENCE_S = 60

# Writes its pid to a file named by its first argument at each start, then sleeps.
_SLEEPER = "import os, sys, time; open(sys.argv[1], 'a').write(f'{os.getpid()}\\n'); print('ready'); time.sleep(600)"
_IGNORING_SIGTERM = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {_SLEEPER}"
_ORPHANING = "import os, subprocess, sys; subprocess.Popen([sys.executable, '-c', sys.argv[2], sys.argv[1]]); os.wait()"
_RUN = """
import json, os, sys
from workers.procfile import supervisor
chosen = {"env": os.environ, "grace_s": int(sys.argv[2]), "lasting": ["lasting"]}
sys.exit(supervisor.Supervisor(json.loads(sys.argv[1]), **chosen).run())
"""


class Fleet:
    """A supervisor in its own process."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log = folder / "out.log"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, commands: dict[str, str], *, grace_s: int = _PATIENCE_S) -> None:
        with self.log.open("wb") as out:
            self.process = subprocess.Popen(
                [sys.executable, "-c", _RUN, json.dumps(commands), str(grace_s)],
                cwd=_ROOT,
                stdout=out,
                stderr=out,
                start_new_session=True,
            )

    def command(self, name: str, code: str = _SLEEPER, *arguments: str) -> str:
        return shlex.join([sys.executable, "-c", code, str(self.folder / name), *arguments])

    def pids(self, name: str) -> list[int]:
        """Return the pids of all starts of a program so far."""
        path = self.folder / name
        return [int(line) for line in path.read_text().splitlines()] if path.exists() else []

    def wait_for_start(self, name: str, times: int = 1) -> int:
        """Wait until a program was started `times` times; return its newest pid."""
        assert _becomes_true(lambda: len(self.pids(name)) >= times), self.read_log()
        return self.pids(name)[-1]

    def signal(self, number: signal.Signals) -> None:
        assert self.process is not None
        self.process.send_signal(number)

    def wait(self) -> int:
        assert self.process is not None
        return self.process.wait(timeout=_PATIENCE_S)

    def read_log(self) -> str:
        return self.log.read_text()


@pytest.fixture
def fleet(tmp_path: Path) -> Iterator[Fleet]:
    fleet = Fleet(tmp_path)
    yield fleet
    if fleet.process is not None and fleet.process.poll() is None:
        fleet.signal(signal.SIGTERM)
        fleet.wait()
    left = [
        pid for path in tmp_path.iterdir() if path != fleet.log for pid in fleet.pids(path.name) if _is_running(pid)
    ]
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert left == []


def _is_running(pid: int) -> bool:
    """Return whether a process is running; a zombie is not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def _becomes_true(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + _PATIENCE_S
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    return condition()


def test_procfile_lines_become_commands_in_order() -> None:
    text = "# the site\nweb: gunicorn app -b :$PORT\n\n  relay : python -m workers.relay 'a: b'\n"

    commands = supervisor.parse(text)

    assert list(commands.items()) == [("web", "gunicorn app -b :$PORT"), ("relay", "python -m workers.relay 'a: b'")]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("web: a\nno colon here\n", "line 2: expected 'name: command'"),
        ("web:\n", "line 1: expected 'name: command'"),
        ("web: a\n\nweb: b\n", "line 3: 'web' is there twice"),
        ("web: echo 'open\n", "line 1: No closing quotation"),
    ],
)
def test_invalid_procfile_line_raises_error_with_its_number(text: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        supervisor.parse(text)


def test_variables_are_expanded_without_splitting_their_values() -> None:
    words = child.split_command("web", "serve --bind=:$PORT ${NAME} 'a b'", {"PORT": "8000", "NAME": "two words"})

    assert words == ["serve", "--bind=:8000", "two words", "a b"]


def test_unknown_variable_raises_error_before_any_start() -> None:
    with pytest.raises(ValueError, match=r"'web' uses \$PORT, which is not set"):
        supervisor.Supervisor({"web": "serve $PORT"}, env={}, out=io.StringIO())


def test_pauses_grow_to_ten_seconds_and_reset_after_ten_healthy_seconds() -> None:
    program = child.ChildProgram("web", ["serve"], started_at=time.monotonic())

    pauses_s = [program.plan_restart() for _ in range(8)]
    program.started_at -= 10
    pause_after_health_s = program.plan_restart()

    assert pauses_s == [0.5, 1, 2, 4, 8, 10, 10, 10]
    assert pause_after_health_s == 0.5


def test_killed_child_is_restarted(fleet: Fleet) -> None:
    fleet.start({"web": fleet.command("web"), "relay": fleet.command("relay")})
    first = fleet.wait_for_start("web")
    relay = fleet.wait_for_start("relay")

    os.kill(first, signal.SIGKILL)

    assert fleet.wait_for_start("web", times=2) != first
    assert fleet.pids("relay") == [relay]
    assert "supervisor | web was killed by SIGKILL; it starts again in 0.5 s" in fleet.read_log()


def test_repeatedly_ending_child_is_restarted_after_longer_pauses(fleet: Fleet) -> None:
    fleet.start({"web": "false", "typo": "no-such-program"})

    assert _becomes_true(lambda: "web ended with code 1; it starts again in 1 s" in fleet.read_log())
    assert _becomes_true(lambda: "typo could not be started" in fleet.read_log())


def test_process_group_of_dead_master_is_killed(fleet: Fleet) -> None:
    fleet.start({"master": fleet.command("worker", _ORPHANING, _SLEEPER)})
    worker = fleet.wait_for_start("worker")
    master = int(Path(f"/proc/{worker}/stat").read_text().rpartition(")")[2].split()[1])

    os.kill(master, signal.SIGKILL)

    assert fleet.wait_for_start("worker", times=2) != worker
    assert not _is_running(worker)


def test_sigusr1_restarts_every_program_except_lasting_programs(fleet: Fleet) -> None:
    fleet.start({"one": fleet.command("one"), "two": fleet.command("two"), "lasting": fleet.command("lasting")})
    former = [fleet.wait_for_start(name) for name in ("one", "two", "lasting")]

    fleet.signal(signal.SIGUSR1)

    assert fleet.wait_for_start("one", times=2) != former[0]
    assert fleet.wait_for_start("two", times=2) != former[1]
    assert fleet.pids("lasting") == former[2:]
    assert not any(_is_running(pid) for pid in former[:2])
    assert "starting one, two again" in fleet.read_log()
    assert "was killed by" not in fleet.read_log()


def test_sigusr1_starts_a_pausing_program_at_once(fleet: Fleet) -> None:
    fleet.start({"broken": fleet.command("broken", "import sys; open(sys.argv[1], 'a').write('0\\n'); sys.exit(3)")})
    assert _becomes_true(lambda: "it starts again in 2 s" in fleet.read_log())
    starts = len(fleet.pids("broken"))

    fleet.signal(signal.SIGUSR1)

    assert _becomes_true(lambda: fleet.read_log().count("it starts again in 0.5 s") == 2)
    assert len(fleet.pids("broken")) > starts


def test_sigint_stops_all_and_returns_zero(fleet: Fleet) -> None:
    fleet.start({"web": fleet.command("web"), "relay": fleet.command("relay")})
    pids = [fleet.wait_for_start("web"), fleet.wait_for_start("relay")]

    fleet.signal(signal.SIGINT)

    assert fleet.wait() == 0
    assert not any(_is_running(pid) for pid in pids)
    assert fleet.read_log().endswith("supervisor | stopped\n")


def test_program_that_ignores_sigterm_is_killed_after_the_grace(fleet: Fleet) -> None:
    fleet.start({"deaf": fleet.command("deaf", _IGNORING_SIGTERM), "web": fleet.command("web")}, grace_s=1)
    deaf = fleet.wait_for_start("deaf")
    fleet.wait_for_start("web")

    fleet.signal(signal.SIGTERM)

    assert fleet.wait() == 1
    assert not _is_running(deaf)
    assert fleet.read_log().splitlines()[-1].startswith("supervisor | killed deaf")  # and web, if it is late


def test_second_ctrl_c_kills_at_once(fleet: Fleet) -> None:
    fleet.start({"deaf": fleet.command("deaf", _IGNORING_SIGTERM)}, grace_s=_PATIENCE_S)
    fleet.wait_for_start("deaf")

    fleet.signal(signal.SIGINT)
    assert _becomes_true(lambda: "stopping" in fleet.read_log())
    fleet.signal(signal.SIGINT)

    assert fleet.wait() == 1
    assert fleet.read_log().endswith("supervisor | killed deaf\n")


def test_kill_9_of_the_supervisor_leaves_no_child(fleet: Fleet) -> None:
    fleet.start({"web": fleet.command("web"), "relay": fleet.command("relay")})
    pids = [fleet.wait_for_start("web"), fleet.wait_for_start("relay")]

    fleet.signal(signal.SIGKILL)
    fleet.wait()

    assert _becomes_true(lambda: not any(_is_running(pid) for pid in pids))


def test_lines_carry_padded_names_and_no_colour_outside_a_terminal(fleet: Fleet) -> None:
    fleet.start({"web": fleet.command("web")})
    fleet.wait_for_start("web")

    assert _becomes_true(lambda: "web        | ready\n" in fleet.read_log())
    assert "\033" not in fleet.read_log()


def test_supervisor_sleeps_while_nothing_happens(fleet: Fleet) -> None:
    fleet.start({"web": fleet.command("web")})
    fleet.wait_for_start("web")
    assert fleet.process is not None
    stat = Path(f"/proc/{fleet.process.pid}/stat")

    def is_asleep() -> bool:
        before = stat.read_text().split()[13:15]
        time.sleep(0.5)
        return stat.read_text().split()[13:15] == before

    # After it has printed its programs' output. A polling supervisor would never sleep.
    assert _becomes_true(is_asleep)
