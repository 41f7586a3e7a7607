"""One process of the service as a test holds it: started in a group of its own, killed, paused or asked to end."""

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
# What a process may take to end when it is asked to, on any machine: it gives itself ten.
_GRACE_S = 90
_LIBC = ctypes.CDLL(None)
_PR_SET_PDEATHSIG = 1


class Process:
    """A running program. Its output goes to a file; when the tests die, it is told to end."""

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
        """Return whether its first process is gone."""
        return self._popen.poll() is not None

    @property
    def children(self) -> list[int]:
        """The processes that its first process started and that live."""
        pid = self._popen.pid
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]

    def kill(self) -> None:
        """SIGKILL the whole group and wait: nothing in it gets to say goodbye."""
        self._signal_group(signal.SIGKILL)
        self._popen.wait()

    def terminate(self, by: signal.Signals = signal.SIGTERM) -> None:
        """Send a signal, as a supervisor does, to the first process alone."""
        self._popen.send_signal(by)

    def wait(self) -> int:
        """Wait for its end and return its exit code; what is left of its group is killed."""
        try:
            return self._popen.wait(timeout=_GRACE_S)
        finally:
            self.kill()

    def pause(self) -> None:
        """SIGSTOP the group: alive to everybody who looks, and doing nothing."""
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
