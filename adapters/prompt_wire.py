"""One connection per thread to the broker's server, for what every request asks it.

The client's pool hands a connection out, repeats and records for each command, which takes several times as long as
the round trip itself. Like `broker.prompt_client` it gives up after a quarter of a second and repeats nothing.

In a cluster the nodes change under a connection, so there the client's own way is taken.
"""

import hashlib
import os
import threading
from typing import Any

import redis
from redis.connection import AbstractConnection
from redis.exceptions import ConnectionError as Gone
from redis.exceptions import NoScriptError

from adapters import broker

Argument = str | bytes | int


class Script:
    """A script as the server runs it, and what the server calls it once it has seen it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.digest = hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


class PromptWire(threading.local):
    """The calling thread's connection. Opens at the first command; opens again when the server has closed it."""

    def __init__(self, url: str) -> None:
        self._client: redis.Redis = broker.prompt_client(url)
        self._has_nodes = broker.is_cluster(self._client)
        self._connection: AbstractConnection | None = None

    def run(self, script: Script, keys: int, *sent: Argument) -> Any:
        """Return what a script answers; the first `keys` of what is sent are its keys. Budget: 1 round trip.

        Raises RedisError when the server is away.
        """
        try:
            return self.send("EVALSHA", script.digest, keys, *sent)
        except NoScriptError:
            return self.send("EVAL", script.text, keys, *sent)

    def send(self, *command: Argument) -> Any:
        """Return what a command answers. Budget: 1 round trip. Raises RedisError when the server is away."""
        if self._has_nodes:
            return self._client.execute_command(*command)
        connection = self._usable()
        connection.send_packed_command(connection.pack_command(*command), check_health=False)
        return connection.read_response(disconnect_on_error=True)

    def _usable(self) -> AbstractConnection:
        connection = self._connection
        if connection is None or connection.pid != os.getpid():  # a forked process has connections of its own
            pool = self._client.connection_pool
            connection = self._connection = pool.connection_class(**pool.connection_kwargs)
        elif connection.is_connected and _is_over(connection):
            connection.disconnect()
        if not connection.is_connected:
            connection.connect()  # by itself it would not ask the Sentinels
        return connection


def _is_over(connection: AbstractConnection) -> bool:
    # Nothing was asked, so all that can be there to read is the server's goodbye.
    try:
        return connection.can_read()
    except Gone:
        return True
