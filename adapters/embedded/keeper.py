"""Keeps the servers of a data folder running: when one dies it is started again, with a line that says so.

`make run` has it among its programs, as `python -m adapters.embedded.keeper DATA_DIR postgres valkey`. When it ends,
the servers go on.
"""

import os
import select
import signal
import socket
import sys
from collections.abc import Callable, Collection
from contextlib import ExitStack, suppress
from pathlib import Path

from adapters.embedded import pair, places

_TITLES = {"postgres": "PostgreSQL", "valkey": "Valkey"}
_SOCKETS = {"postgres": "postgres_socket", "valkey": "valkey_socket"}
# Between two attempts to start what does not come up; the last pause repeats.
_PAUSES_S = (1, 2, 4, 8, 10)
# How often is looked where the kernel does not say that a process has ended (Linux before 5.3).
_LOOK_EVERY_S = 1


class Keeper:
    """Watches the servers named until SIGTERM or SIGINT; a start that is on its way is finished first."""

    def __init__(self, data_dir: Path, names: Collection[str], *, say: Callable[[str], None]) -> None:
        """Take 'postgres' and 'valkey', or one of them, and what prints a line."""
        self._data_dir, self._names, self._say = data_dir, sorted(names), say
        self._place = places.of(data_dir)
        self._ear, self._mouth = socket.socketpair()
        self._mouth.setblocking(False)
        self._is_told = False
        self._failures = 0

    def run(self) -> None:
        """Return when told to end; call it in the main thread."""
        signal.set_wakeup_fd(self._mouth.fileno(), warn_on_full_buffer=False)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._hear)
        while not self._is_told:
            pids = {name: self._pid(name) for name in self._names}
            gone = [name for name, pid in pids.items() if pid is None]
            if gone:
                self._bring_back(gone)
            else:
                self._until_one_ends([pid for pid in pids.values() if pid is not None])

    def _hear(self, *_: object) -> None:
        self._is_told = True

    def _pid(self, name: str) -> int | None:
        return places.listener_pid(getattr(self._place, _SOCKETS[name]))

    def _bring_back(self, gone: list[str]) -> None:
        for name in gone:
            self._say(f"{_TITLES[name]} is gone; it is started again")
        failures = []
        for name in gone:  # each by itself: one that does not come up is no matter of the other's
            try:
                pair.start(self._data_dir, postgres=name == "postgres", valkey=name == "valkey")
            except pair.StartFailed as failure:
                failures.append(failure)
            else:
                self._say(f"{_TITLES[name]} runs again (process {self._pid(name)})")
        if not failures:
            self._failures = 0
            return
        pause_s = _PAUSES_S[min(self._failures, len(_PAUSES_S) - 1)]
        self._failures += 1
        self._say("\n".join([*map(str, failures), f"The next attempt is in {pause_s} s."]))
        self._wait([], timeout_s=pause_s)

    def _until_one_ends(self, pids: list[int]) -> None:
        with ExitStack() as opened:
            watched: list[int] = []
            for pid in pids:
                with suppress(OSError):  # it has just ended, or the kernel is too old
                    watched.append(os.pidfd_open(pid))
                    opened.callback(os.close, watched[-1])
            self._wait(watched, timeout_s=None if len(watched) == len(pids) else _LOOK_EVERY_S)

    def _wait(self, watched: list[int], *, timeout_s: float | None) -> None:
        """Sleep until a process ends, a signal comes, or the time is over."""
        if not self._is_told:
            select.select([self._ear.fileno(), *watched], [], [], timeout_s)


if __name__ == "__main__":
    _, _folder, *_names = sys.argv
    Keeper(Path(_folder), _names, say=lambda text: print(text, flush=True)).run()
