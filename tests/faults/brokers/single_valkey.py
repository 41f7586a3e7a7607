"""A broker installation that is a single Valkey server: the installation's own."""

from adapters.embedded import data_folder
from tests.support.installation import servers
from tests.support.installation.machine import Machine


class SingleValkey:
    """A single Valkey server; `environment` has the variables of processes that use it."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self.environment = {"REDIS_URL": machine.urls.redis_url}

    def lose_primary(self) -> None:
        """Kill the server, and start it again with its append-only file."""
        servers.kill_valkey(self._machine.home)
        assert not data_folder.query_listener(data_folder.resolve(self._machine.home).valkey_socket, b"PING\r\n")
        self._machine.start_valkey()

    def demote_primary(self) -> None:
        """Stop the server cleanly and start it again: no other server can take over."""
        servers.stop_valkey(self._machine.home, save=True)
        self._machine.start_valkey()

    def lose_messages(self) -> None:
        """Delete all data."""
        self._machine.valkey().flushall()

    def list_dead_letters(self) -> list[bytes]:
        """Return the keys of Dramatiq's dead letter queues."""
        return list(self._machine.valkey().scan_iter("*.XQ*"))

    def close(self) -> None:
        """Do nothing: the server belongs to the installation."""
