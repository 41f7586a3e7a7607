"""Kills a process at a point that only a proxy between it and its server can see."""

import threading
from collections.abc import Callable

from tests.support.installation.machine import Machine
from tests.support.installation.proxy import Action


class ProcessKiller:
    """A callback of a proxy: kills the process and disconnects it at the first bytes for which `should_kill` is true.

    After that all bytes are cut off, also those of the process's other connections. It kills only once: a process that
    is started again must connect to the server directly.
    """

    def __init__(self, machine: Machine, name: str, *, should_kill: Callable[[bytes], bool]) -> None:
        self._machine, self._name, self._should_kill = machine, name, should_kill
        self._is_killed = threading.Event()

    def __call__(self, read: bytes) -> Action:
        if self._is_killed.is_set():
            return Action.DISCONNECT
        if not self._should_kill(read):
            return Action.FORWARD
        self._machine.kill(self._name)
        self._is_killed.set()
        return Action.DISCONNECT

    def wait_until_dead(self) -> None:
        """Wait until the process is killed."""
        self._machine.wait_until(self._is_killed.is_set, f"{self._name} is killed")
