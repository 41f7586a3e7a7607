"""Run a command and end every process that it leaves behind, however the command ends.

python -m tests.reaper COMMAND...

Tests start servers that detach from the process that started them. A run that is ended by a signal cannot stop them, so
this process adopts them (Linux: a child subreaper) and ends them when the command has ended. It also ends with its own
parent: `make` ended by a signal ends its shell but none of the shell's children. On other systems this process only
forwards signals.
"""

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

# From linux/prctl.h.
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
# Seconds that processes get to end after each signal. With open sessions PostgreSQL ends at SIGQUIT, not at SIGTERM.
_SIGNALS = ((signal.SIGTERM, 2.0), (signal.SIGQUIT, 10.0), (signal.SIGKILL, 10.0))
_POLL_S = 0.05


def main(command: list[str]) -> int:
    """Run the command to its end; return its exit status, or 128 plus the number of the signal that ended it."""
    _adopt_orphans()
    child = subprocess.Popen(command)
    # Ctrl-C reaches the command itself, which prints its results so far.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda received, _: child.send_signal(received))
    _end_with_parent()
    status = child.wait()
    for number, patience_s in _SIGNALS:
        if _end_descendants(number, patience_s):
            break
    _collect_ended()
    return status if status >= 0 else 128 - status


def _adopt_orphans() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _end_with_parent() -> None:
    """Ask the kernel to send this process SIGTERM when its parent ends."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)


def _end_descendants(number: signal.Signals, patience_s: float) -> bool:
    """Send a signal to each descendant and return whether all ended in time."""
    for pid in _list_descendants():
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            continue
    return _wait_until(lambda: not _list_descendants(), patience_s)


def _wait_until(is_done: Callable[[], bool], patience_s: float) -> bool:
    end = time.monotonic() + patience_s
    while not is_done():
        if time.monotonic() > end:
            return False
        time.sleep(_POLL_S)
    return True


def _list_descendants() -> list[int]:
    """Return the process ids of all living descendants, after collecting ended children."""
    _collect_ended()
    children: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            # The name in parentheses may contain any character; the state and the parent follow it.
            state, parent = stat.read_text().rpartition(")")[2].split()[:2]
        except (FileNotFoundError, ProcessLookupError):
            continue
        if state != "Z":
            children.setdefault(int(parent), []).append(int(stat.parent.name))
    pending, all_descendants = [os.getpid()], []
    while pending:
        descendants = children.get(pending.pop(), [])
        all_descendants += descendants
        pending += descendants
    return all_descendants


def _collect_ended() -> None:
    while True:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                return
        except ChildProcessError:
            return


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
