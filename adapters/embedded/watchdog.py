"""Watches the servers of a data folder and restarts one that dies, with a line on standard output.

`make run` runs it as `python -m adapters.embedded.watchdog DATA_DIR postgres valkey`. The servers outlive it.
"""

import os
import select
import signal
import socket
import sys
from collections.abc import Callable, Collection
from contextlib import ExitStack, suppress
from pathlib import Path

from adapters.embedded import data_folder, server_pair

_TITLES = {"postgres": "PostgreSQL", "valkey": "Valkey"}
_SOCKETS = {"postgres": "postgres_socket", "valkey": "valkey_socket"}
# Pauses between attempts to start a server; the last pause repeats.
_PAUSES_S = (1, 2, 4, 8, 10)
# The polling interval on kernels that do not report the end of a process (Linux before 5.3).
_POLL_INTERVAL_S = 1


class Watchdog:
    """Watches the named servers until SIGTERM or SIGINT; a start in progress is finished first."""

    def __init__(self, data_dir: Path, names: Collection[str], *, print_line: Callable[[str], None]) -> None:
        """`names` are 'postgres', 'valkey' or both; `print_line` prints a line."""
        self._data_dir, self._names, self._print_line = data_dir, sorted(names), print_line
        self._folder = data_folder.resolve(data_dir)
        self._wakeup_reader, self._wakeup_writer = socket.socketpair()
        self._wakeup_writer.setblocking(False)
        self._is_stopping = False
        self._failures = 0

    def run(self) -> None:
        """Watch until a signal; must run in the main thread."""
        signal.set_wakeup_fd(self._wakeup_writer.fileno(), warn_on_full_buffer=False)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._stop)
        while not self._is_stopping:
            pids = {name: self._pid(name) for name in self._names}
            gone = [name for name, pid in pids.items() if pid is None]
            if gone:
                self._restart(gone)
            else:
                self._wait_for_end([pid for pid in pids.values() if pid is not None])

    def _stop(self, *_: object) -> None:
        self._is_stopping = True

    def _pid(self, name: str) -> int | None:
        return data_folder.listener_pid(getattr(self._folder, _SOCKETS[name]))

    def _restart(self, gone: list[str]) -> None:
        for name in gone:
            self._print_line(f"{_TITLES[name]} has stopped; restarting it")
        failures = []
        for name in gone:  # one by one: a server that does not start must not delay the other
            try:
                server_pair.start(self._data_dir, postgres=name == "postgres", valkey=name == "valkey")
            except server_pair.StartFailed as failure:
                failures.append(failure)
            else:
                self._print_line(f"{_TITLES[name]} is running again (process {self._pid(name)})")
        if not failures:
            self._failures = 0
            return
        pause_s = _PAUSES_S[min(self._failures, len(_PAUSES_S) - 1)]
        self._failures += 1
        self._print_line("\n".join([*map(str, failures), f"The next attempt is in {pause_s} s."]))
        self._wait([], timeout_s=pause_s)

    def _wait_for_end(self, pids: list[int]) -> None:
        with ExitStack() as stack:
            watched: list[int] = []
            for pid in pids:
                with suppress(OSError):  # it has just ended, or the kernel is too old
                    watched.append(os.pidfd_open(pid))
                    stack.callback(os.close, watched[-1])
            self._wait(watched, timeout_s=None if len(watched) == len(pids) else _POLL_INTERVAL_S)

    def _wait(self, watched: list[int], *, timeout_s: float | None) -> None:
        """Sleep until a process ends, a signal arrives, or the timeout."""
        if not self._is_stopping:
            select.select([self._wakeup_reader.fileno(), *watched], [], [], timeout_s)


if __name__ == "__main__":
    _, _folder, *_names = sys.argv
    Watchdog(Path(_folder), _names, print_line=lambda text: print(text, flush=True)).run()
