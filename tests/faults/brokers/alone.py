"""The machine's own Valkey, alone on its socket."""

from adapters.embedded import data_folder
from tests.support.installation import servers
from tests.support.installation.machine import Machine


class Alone:
    """The installation; `environment` is what a process is told to use it."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self.environment = {"REDIS_URL": machine.urls.redis_url}

    def lose_primary(self) -> None:
        """Kill it, and start it again with what its file has."""
        servers.kill_valkey(self._machine.home)
        assert not data_folder.query_listener(data_folder.resolve(self._machine.home).valkey_socket, b"PING\r\n")
        self._machine.start_valkey()

    def demote_primary(self) -> None:
        """Stop it cleanly and start it again: there is nobody to take its place."""
        servers.stop_valkey(self._machine.home, save=True)
        self._machine.start_valkey()

    def forget(self) -> None:
        """Lose everything that is carried."""
        self._machine.valkey().flushall()

    def buried(self) -> list[bytes]:
        """Return the names of Dramatiq's own dead-letter sets."""
        return list(self._machine.valkey().scan_iter("*.XQ*"))

    def close(self) -> None:
        """It goes on."""
