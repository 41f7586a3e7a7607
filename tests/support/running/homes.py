"""The data folder of a test run: locked while the run lasts, and removed by the next run if it is left behind.

A run that is killed removes nothing, but the kernel releases its lock however it ended, also in another container.
"""

import fcntl
import shutil
from io import TextIOWrapper
from pathlib import Path

from adapters.embedded import server_pair

PREFIX = "finderfee-tests-"
_LOCK = "run.lock"


def lock_home(home: Path) -> TextIOWrapper:
    """Create the folder of a run and return its lock, which is held until it is closed or the process ends."""
    while True:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = (home / _LOCK).open("a")
        fcntl.flock(lock, fcntl.LOCK_EX)
        if (home / _LOCK).exists():  # not removed after it was opened and before it was locked
            return lock
        lock.close()


def remove_abandoned(folder: Path) -> list[Path]:
    """Stop the servers of runs that have ended, remove their data in `folder`, and return what was removed."""
    removed = []
    for lock in folder.glob(f"{PREFIX}*/{_LOCK}"):
        try:
            with lock.open("a") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                server_pair.stop(lock.parent)
                shutil.rmtree(lock.parent, ignore_errors=True)
        except OSError:  # the run still lasts, another run removes it, or it belongs to another user
            continue
        removed.append(lock.parent)
    return removed
