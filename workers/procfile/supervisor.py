"""Runs a Procfile's programs on one machine, starts again what dies and stops everything cleanly.

Written here because the Procfile runners on offer stop everything when one process dies, while a fleet of workers has
to be restarted. It does not daemonize, reads no files and knows nothing about what it runs.
"""

import os
import re
import selectors
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, TextIO

from workers.procfile import child, console

# What the dead have written is read for this long; a descendant that escaped its group could write for ever.
_DRAIN_S = 1.0
_READ_BYTES = 65_536
_STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_HEARD = (*_STOP_SIGNALS, signal.SIGCHLD, signal.SIGUSR1)
_SELF = "supervisor"
_LINE = re.compile(r"^([A-Za-z0-9_-]+)\s*:\s*(.*)$")


def parse(text: str) -> dict[str, str]:
    """Return the commands of a Procfile by name, in its order.

    A line is `name: command`; blank lines and lines that begin with # are skipped. Raises ValueError that says the
    number of the line at fault.
    """
    commands: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        found = _LINE.match(line.strip())
        if found is None or not found[2]:
            raise ValueError(f"Procfile line {number}: expected 'name: command', found {line.strip()!r}")
        if found[1] in commands:
            raise ValueError(f"Procfile line {number}: {found[1]!r} is there twice")
        try:
            shlex.split(found[2])
        except ValueError as error:
            raise ValueError(f"Procfile line {number}: {error}") from error
        commands[found[1]] = found[2]
    return commands


@dataclass(frozen=True, slots=True)
class _Output:
    """What one run of a program writes."""

    name: str
    pipe: IO[bytes]
    lines: console.Lines


class Supervisor:
    """Keeps programs running until it is told to stop; run() must be called in the main thread, once."""

    def __init__(
        self,
        commands: Mapping[str, str],
        *,
        env: Mapping[str, str],
        grace_s: int = 20,
        lasting: Collection[str] = (),
        out: TextIO = sys.stdout,
    ) -> None:
        """Take commands by name and the programs' whole environment; `$NAME` in a command is taken from it.

        `grace_s` is how long they may take to end before they are killed; `lasting` are the names of those that
        SIGUSR1 does not start again. Raises ValueError for an unknown `$NAME`.
        """
        self._env = {"PYTHONUNBUFFERED": "1", **env}  # Else a line of Python shows when 8 kB of them are full.
        self._programs = [
            child.ChildProgram(name, child.words(name, command, env)) for name, command in commands.items()
        ]
        self._grace_s = grace_s
        self._lasting = frozenset(lasting)
        self._console = console.Console(out, programs=list(commands), host=_SELF)
        self._stops_asked = 0
        self._is_renewal_asked = False
        self._selector = selectors.DefaultSelector()

    def run(self) -> int:
        """Run until SIGINT, SIGTERM or SIGHUP, then stop everything. SIGUSR1 has the programs started again.

        Returns 0 when all ended by themselves, 1 when some had to be killed.
        """
        with self._hearing_signals():
            try:
                while not self._stops_asked:
                    self._start_due()
                    self._wait(self._next_due_in_s())
                    self._bury()
                    self._renew()
                return self._stop()
            finally:
                self._close()

    def _start_due(self) -> None:
        for program in self._programs:
            if program.process is not None or program.start_due_at > time.monotonic():
                continue
            try:
                output = _Output(program.name, program.start(self._env), console.Lines())
            except (OSError, subprocess.SubprocessError) as error:
                self._plan_restart(program, f"could not be started ({error})")
            else:
                self._selector.register(output.pipe, selectors.EVENT_READ, output)

    def _plan_restart(self, program: child.ChildProgram, what: str) -> None:
        pause_s = program.plan_restart()
        self._say(f"{program.name} {what}; it starts again in {pause_s:g} s")

    def _next_due_in_s(self) -> float | None:
        """Return the seconds until the next restart, None when only an event can come."""
        due = [program.start_due_at for program in self._programs if program.process is None]
        return max(0.0, min(due) - time.monotonic()) if due else None

    def _bury(self) -> None:
        """Take note of the programs that ended."""
        for program in self._programs:
            how = program.obituary()
            if how and self._stops_asked:
                self._say(f"{program.name} {how}")
            elif how and program.is_renewed:
                program.start_now()
            elif how:
                self._plan_restart(program, how)

    def _renew(self) -> None:
        """Ask everything to end that is to be started again; what waits for its restart starts at once."""
        if not self._is_renewal_asked or self._stops_asked:
            return
        self._is_renewal_asked = False
        renewed = [program for program in self._programs if program.name not in self._lasting]
        self._say(f"starting {', '.join(program.name for program in renewed)} again")
        for program in renewed:
            program.renew()

    def _stop(self) -> int:
        """Ask all to end, the last one first; after the grace or a second signal kill the rest."""
        self._say(f"stopping; what still runs in {self._grace_s} s or at a second Ctrl-C is killed")
        for program in reversed(self._programs):
            program.ask_to_end()
        deadline = time.monotonic() + self._grace_s
        while self._alive() and self._stops_asked < 2 and (left_s := deadline - time.monotonic()) > 0:
            self._wait(left_s)
            self._bury()
        late = self._alive()
        for program in late:
            program.kill()
        self._drain()
        self._say(f"killed {', '.join(program.name for program in late)}" if late else "stopped")
        return 1 if late else 0

    def _alive(self) -> list[child.ChildProgram]:
        return [program for program in self._programs if program.process is not None]

    def _say(self, line: str) -> None:
        self._console.say(_SELF, line)

    @contextmanager
    def _hearing_signals(self) -> Iterator[None]:
        """Turn signals into bytes that wake the selector: nothing happens inside a handler, nothing polls."""
        ear, mouth = socket.socketpair()
        ear.setblocking(False)
        mouth.setblocking(False)
        self._selector.register(ear, selectors.EVENT_READ, None)
        former = {heard: signal.signal(heard, lambda *_: None) for heard in _HEARD}
        former_fd = signal.set_wakeup_fd(mouth.fileno(), warn_on_full_buffer=False)
        try:
            yield
        finally:
            signal.set_wakeup_fd(former_fd)
            for heard, handler in former.items():
                signal.signal(heard, handler)
            ear.close()
            mouth.close()

    def _wait(self, timeout_s: float | None) -> bool:
        """Sleep until something happens, show what was written and return whether anything was."""
        outputs = []
        for key, _ in self._selector.select(timeout_s):
            if key.data is None:
                heard = os.read(key.fd, _READ_BYTES)
                self._stops_asked += sum(number in _STOP_SIGNALS for number in heard)
                self._is_renewal_asked |= signal.SIGUSR1 in heard
            else:
                outputs.append(key.data)
        for output in outputs:
            self._show(output)
        return bool(outputs)

    def _show(self, output: _Output) -> None:
        read = os.read(output.pipe.fileno(), _READ_BYTES)
        for line in output.lines.cut(read):
            self._console.say(output.name, line)
        if not read:
            self._selector.unregister(output.pipe)
            output.pipe.close()

    def _drain(self) -> None:
        deadline = time.monotonic() + _DRAIN_S
        while self._wait(0) and time.monotonic() < deadline:
            pass

    def _close(self) -> None:
        """Leave nothing running or open, also when an error ended the run."""
        for program in self._alive():
            program.kill()
        for key in list(self._selector.get_map().values()):
            if key.data is not None:
                key.data.pipe.close()
        self._selector.close()
