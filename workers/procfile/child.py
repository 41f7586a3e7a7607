"""One program of a Procfile: its process, its process group and the time of its restart."""

import ctypes
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import IO

# The first restart is soon, for an occasional crash; the last pause limits the cost of a broken program.
_PAUSES_S = (0.5, 1.0, 2.0, 4.0, 8.0, 10.0)
# A program that ran this long was healthy: its next restart uses the first pause again.
_HEALTHY_AFTER_S = 10.0
_VARIABLE = re.compile(r"\$(?:(\w+)|\{(\w+)\})")
_PR_SET_PDEATHSIG = 1  # From linux/prctl.h.
# Loaded before any fork: between fork and exec a child should do as little as it can.
_LIBC = ctypes.CDLL(None, use_errno=True)


@dataclass(slots=True)
class ChildProgram:
    """A command and its current process, if any; times are of the monotonic clock, in seconds."""

    name: str
    arguments: list[str]
    process: subprocess.Popen[bytes] | None = None
    started_at: float = 0.0
    start_due_at: float = 0.0
    failures: int = 0
    is_restarting: bool = False

    def start(self, env: Mapping[str, str]) -> IO[bytes]:
        """Start the process in a group of its own and return the pipe it writes to.

        Raises OSError or subprocess.SubprocessError when it cannot be started.
        """
        self.started_at = time.monotonic()
        self.process = subprocess.Popen(
            self.arguments,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            bufsize=0,
            env=env,
            start_new_session=True,
            preexec_fn=partial(_end_with_parent, os.getpid()),
        )
        assert self.process.stdout is not None
        return self.process.stdout

    def plan_restart(self) -> float:
        """Set the time of its restart and return the pause in seconds: 0.5, 1, 2, 4, 8, then 10."""
        now = time.monotonic()
        if now - self.started_at >= _HEALTHY_AFTER_S:
            self.failures = 0
        pause_s = _PAUSES_S[min(self.failures, len(_PAUSES_S) - 1)]
        self.failures, self.start_due_at = self.failures + 1, now + pause_s
        return pause_s

    def restart(self) -> None:
        """Ask the process to end, once, so that it is started again; start one that waits for its restart at once."""
        if self.process is None:
            self.reset_pause()
        elif not self.is_restarting:
            self.is_restarting = True
            self.ask_to_end()

    def reset_pause(self) -> None:
        """Make the program due to start at once, and forget its failures."""
        self.is_restarting, self.failures, self.start_due_at = False, 0, 0.0

    def describe_end(self) -> str:
        """Return how the process ended since the last call, or '' if it did not.

        The rest of its group is killed: workers whose master died would hold its port and its jobs.
        """
        if self.process is None or self.process.poll() is None:
            return ""
        code = self.process.returncode
        self.kill()
        return f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"

    def ask_to_end(self) -> None:
        """Send SIGTERM only to the first process of the group.

        gunicorn and Dramatiq pass it on, and a fleet's process that gets it twice aborts its jobs.
        """
        if self.process is not None:
            self.process.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """Kill the whole group at once and forget the process."""
        if self.process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self.process = None


def split_command(name: str, command: str, env: Mapping[str, str]) -> list[str]:
    """Return a command's words with `$NAME` and `${NAME}` replaced, after splitting: a value stays one word.

    Raises ValueError for a name that the environment lacks.
    """

    def value(match: re.Match[str]) -> str:
        variable = match[1] or match[2]
        if variable not in env:
            raise ValueError(f"the command of {name!r} uses ${variable}, which is not set")
        return env[variable]

    return [_VARIABLE.sub(value, word) for word in shlex.split(command)]


def _end_with_parent(parent: int) -> None:
    """Between fork and exec: have the kernel send SIGTERM when the supervisor dies, even by kill -9 (Linux only)."""
    if sys.platform == "linux":
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)  # The supervisor died before this call.
