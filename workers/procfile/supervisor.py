"""Runs a Procfile's programs on one machine, restarts programs that end and stops everything cleanly.

Existing Procfile runners stop everything when one process dies, while a fleet of workers has to be restarted. This one
does not daemonize, reads no files and knows nothing about its programs.
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

# The remaining output of ended programs is read for this long; a descendant outside its group could write forever.
_DRAIN_S = 1.0
_READ_BYTES = 65_536
_STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_HANDLED_SIGNALS = (*_STOP_SIGNALS, signal.SIGCHLD, signal.SIGUSR1)
_SELF = "supervisor"
_LINE = re.compile(r"^([A-Za-z0-9_-]+)\s*:\s*(.*)$")


def parse(text: str) -> dict[str, str]:
    """Return the commands of a Procfile by name, in its order.

    A line is `name: command`; blank lines and lines that begin with # are skipped. Raises ValueError with the
    number of the invalid line.
    """
    commands: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        match = _LINE.match(line.strip())
        if match is None or not match[2]:
            raise ValueError(f"Procfile line {number}: expected 'name: command', found {line.strip()!r}")
        if match[1] in commands:
            raise ValueError(f"Procfile line {number}: {match[1]!r} is there twice")
        try:
            shlex.split(match[2])
        except ValueError as error:
            raise ValueError(f"Procfile line {number}: {error}") from error
        commands[match[1]] = match[2]
    return commands


@dataclass(frozen=True, slots=True)
class _Output:
    """The output of one run of a program."""

    name: str
    pipe: IO[bytes]
    lines: console.LineBuffer


class Supervisor:
    """Keeps programs running until a signal to stop; run() must be called in the main thread, once."""

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
        SIGUSR1 does not restart. Raises ValueError for an unknown `$NAME`.
        """
        self._env = {"PYTHONUNBUFFERED": "1", **env}  # Else Python writes lines only in blocks of 8 kB.
        self._programs = [
            child.ChildProgram(name, child.split_command(name, command, env)) for name, command in commands.items()
        ]
        self._grace_s = grace_s
        self._lasting = frozenset(lasting)
        self._console = console.Console(out, programs=list(commands), host=_SELF)
        self._stop_requests = 0
        self._is_restart_requested = False
        self._selector = selectors.DefaultSelector()

    def run(self) -> int:
        """Run until SIGINT, SIGTERM or SIGHUP, then stop everything. SIGUSR1 restarts the programs.

        Returns 0 if all ended by themselves, 1 if some had to be killed.
        """
        with self._signals():
            try:
                while not self._stop_requests:
                    self._start_due()
                    self._wait(self._next_due_in_s())
                    self._handle_ended()
                    self._restart_all()
                return self._stop()
            finally:
                self._close()

    def _start_due(self) -> None:
        for program in self._programs:
            if program.process is not None or program.start_due_at > time.monotonic():
                continue
            try:
                output = _Output(program.name, program.start(self._env), console.LineBuffer())
            except (OSError, subprocess.SubprocessError) as error:
                self._plan_restart(program, f"could not be started ({error})")
            else:
                self._selector.register(output.pipe, selectors.EVENT_READ, output)

    def _plan_restart(self, program: child.ChildProgram, reason: str) -> None:
        pause_s = program.plan_restart()
        self._report(f"{program.name} {reason}; it starts again in {pause_s:g} s")

    def _next_due_in_s(self) -> float | None:
        """Return the seconds until the next restart, or None if none is planned."""
        due = [program.start_due_at for program in self._programs if program.process is None]
        return max(0.0, min(due) - time.monotonic()) if due else None

    def _handle_ended(self) -> None:
        """Report the programs that ended, and plan their restart."""
        for program in self._programs:
            end = program.describe_end()
            if end and self._stop_requests:
                self._report(f"{program.name} {end}")
            elif end and program.is_restarting:
                program.reset_pause()
            elif end:
                self._plan_restart(program, end)

    def _restart_all(self) -> None:
        """Restart all but the lasting programs, if that was requested; those that wait for a restart start at once."""
        if not self._is_restart_requested or self._stop_requests:
            return
        self._is_restart_requested = False
        restarted = [program for program in self._programs if program.name not in self._lasting]
        self._report(f"starting {', '.join(program.name for program in restarted)} again")
        for program in restarted:
            program.restart()

    def _stop(self) -> int:
        """Ask all programs to end, the last one first; after the grace or a second signal kill the rest."""
        self._report(f"stopping; what still runs in {self._grace_s} s or at a second Ctrl-C is killed")
        for program in reversed(self._programs):
            program.ask_to_end()
        deadline = time.monotonic() + self._grace_s
        while self._running() and self._stop_requests < 2 and (left_s := deadline - time.monotonic()) > 0:
            self._wait(left_s)
            self._handle_ended()
        late = self._running()
        for program in late:
            program.kill()
        self._drain()
        self._report(f"killed {', '.join(program.name for program in late)}" if late else "stopped")
        return 1 if late else 0

    def _running(self) -> list[child.ChildProgram]:
        return [program for program in self._programs if program.process is not None]

    def _report(self, line: str) -> None:
        self._console.write_line(_SELF, line)

    @contextmanager
    def _signals(self) -> Iterator[None]:
        """Turn signals into bytes that wake the selector: nothing happens inside a handler, nothing polls."""
        reader, writer = socket.socketpair()
        reader.setblocking(False)
        writer.setblocking(False)
        self._selector.register(reader, selectors.EVENT_READ, None)
        former = {number: signal.signal(number, lambda *_: None) for number in _HANDLED_SIGNALS}
        former_fd = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
        try:
            yield
        finally:
            signal.set_wakeup_fd(former_fd)
            for number, handler in former.items():
                signal.signal(number, handler)
            reader.close()
            writer.close()

    def _wait(self, timeout_s: float | None) -> bool:
        """Wait for an event, write the programs' output and return whether there was any."""
        outputs = []
        for key, _ in self._selector.select(timeout_s):
            if key.data is None:
                numbers = os.read(key.fd, _READ_BYTES)
                self._stop_requests += sum(number in _STOP_SIGNALS for number in numbers)
                self._is_restart_requested |= signal.SIGUSR1 in numbers
            else:
                outputs.append(key.data)
        for output in outputs:
            self._write(output)
        return bool(outputs)

    def _write(self, output: _Output) -> None:
        read = os.read(output.pipe.fileno(), _READ_BYTES)
        for line in output.lines.split(read):
            self._console.write_line(output.name, line)
        if not read:
            self._selector.unregister(output.pipe)
            output.pipe.close()

    def _drain(self) -> None:
        deadline = time.monotonic() + _DRAIN_S
        while self._wait(0) and time.monotonic() < deadline:
            pass

    def _close(self) -> None:
        """Kill and close everything, also after an error."""
        for program in self._running():
            program.kill()
        for key in list(self._selector.get_map().values()):
            if key.data is not None:
                key.data.pipe.close()
        self._selector.close()
