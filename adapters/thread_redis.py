"""One connection per thread to the broker's server, for the commands of every request.

The client's pool checks a connection out, retries and records metrics for each command, which takes several times as
long as the round trip. This connection, like `broker.prompt_client`, times out after 250 ms and does not retry.

In a cluster the nodes may change, so the client's own pool is used there.
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
    """A Lua script, and the digest by which the server runs it once it has loaded it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.digest = hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


class ThreadRedis(threading.local):
    """The calling thread's connection. It opens at the first command, and again after the server has closed it."""

    def __init__(self, url: str) -> None:
        self._client: redis.Redis = broker.prompt_client(url)
        self._is_cluster = broker.is_cluster(self._client)
        self._connection: AbstractConnection | None = None

    def run(self, script: Script, keys: int, *arguments: Argument) -> Any:
        """Return the reply of a script; the first `keys` of its arguments are its keys. Budget: 1 round trip.

        Raises RedisError if the server is down.
        """
        try:
            return self.send("EVALSHA", script.digest, keys, *arguments)
        except NoScriptError:
            return self.send("EVAL", script.text, keys, *arguments)

    def send(self, *command: Argument) -> Any:
        """Return the reply of a command. Budget: 1 round trip. Raises RedisError if the server is down."""
        if self._is_cluster:
            return self._client.execute_command(*command)
        connection = self._open_connection()
        connection.send_packed_command(connection.pack_command(*command), check_health=False)
        return connection.read_response(disconnect_on_error=True)

    def _open_connection(self) -> AbstractConnection:
        connection = self._connection
        if connection is None or connection.pid != os.getpid():  # a forked process has connections of its own
            pool = self._client.connection_pool
            connection = self._connection = pool.connection_class(**pool.connection_kwargs)
        elif connection.is_connected and _is_closed_by_server(connection):
            connection.disconnect()
        if not connection.is_connected:
            connection.connect()  # sending a command would connect without asking the Sentinels
        return connection


def _is_closed_by_server(connection: AbstractConnection) -> bool:
    # No command is under way, so only the end of the connection can be read.
    try:
        return connection.can_read()
    except Gone:
        return True
