"""Kills a process in a moment that only a proxy before its server sees."""

import threading
from collections.abc import Callable

from tests.support.installation.machine import Machine
from tests.support.installation.proxy import Action


class ProcessKiller:
    """What a proxy asks about bytes: at the first of which `is_now` says so, the process is killed and cut off.

    Others of its connections may have bytes on their way then. They are nobody's, and the process that is started in
    its place has nothing to do with them: it is killed once.
    """

    def __init__(self, machine: Machine, name: str, *, should_kill: Callable[[bytes], bool]) -> None:
        self._machine, self._name, self._is_now = machine, name, should_kill
        self._is_dead = threading.Event()

    def __call__(self, read: bytes) -> Action:
        if self._is_dead.is_set():
            return Action.DISCONNECT
        if not self._is_now(read):
            return Action.FORWARD
        self._machine.kill(self._name)
        self._is_dead.set()
        return Action.DISCONNECT

    def wait_until_dead(self) -> None:
        """Return when it is killed and has ended."""
        self._machine.wait_until(self._is_dead.is_set, f"{self._name} is killed")
