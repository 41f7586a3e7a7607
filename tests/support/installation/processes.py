"""A process of the service, in its own process group, which a test can kill, pause or terminate."""

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
_BIN = Path(sys.executable).parent
# The limit for a process to exit after SIGTERM, on any machine; the service itself takes ten seconds at most.
_EXIT_LIMIT_S = 90
_LIBC = ctypes.CDLL(None)
_PR_SET_PDEATHSIG = 1


class Process:
    """A running program. Its output goes to a file; it gets SIGTERM when the test process dies."""

    def __init__(self, name: str, command: Sequence[str], *, env: Mapping[str, str], log: Path) -> None:
        self.name = name
        self.is_paused = False
        with log.open("ab") as output:
            self._popen = subprocess.Popen(
                [str(_BIN / command[0]), *command[1:]],
                cwd=ROOT,
                env=dict(env),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=_end_with_parent,
            )

    @property
    def has_ended(self) -> bool:
        """Whether the first process of the group has exited."""
        return self._popen.poll() is not None

    @property
    def children(self) -> list[int]:
        """The ids of the living child processes of the first process."""
        pid = self._popen.pid
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]

    def kill(self) -> None:
        """SIGKILL the whole group and wait until the first process has ended."""
        self._signal_group(signal.SIGKILL)
        self._popen.wait()

    def terminate(self, number: signal.Signals = signal.SIGTERM) -> None:
        """Send a signal to the first process only, as a supervisor does."""
        self._popen.send_signal(number)

    def wait(self) -> int:
        """Wait until the first process exits, kill the rest of the group, and return the exit code."""
        try:
            return self._popen.wait(timeout=_EXIT_LIMIT_S)
        finally:
            self.kill()

    def pause(self) -> None:
        """SIGSTOP the group: its processes still exist, and do nothing."""
        self.is_paused = True
        self._signal_group(signal.SIGSTOP)

    def resume(self) -> None:
        """SIGCONT the group."""
        self.is_paused = False
        self._signal_group(signal.SIGCONT)

    def _signal_group(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._popen.pid, number)


def _end_with_parent() -> None:
    if sys.platform == "linux":
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
