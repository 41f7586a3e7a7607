"""A RabbitMQ of its own, out of the distribution's package: one node, with a port, a folder and a user."""

import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any
from urllib.parse import quote

import pika
from dramatiq.brokers.rabbitmq import DEAD_MESSAGE_TTL

from adapters.embedded import data_folder
from commands.demo import certificate
from domain.jobs import QUEUES
from tests.faults.brokers import nodes

#: Where Debian's package has it; its own starter wants to be root or a certain user. None where it is not installed.
PROGRAM = shutil.which("rabbitmq-server", path="/usr/lib/rabbitmq/bin")
#: A node takes seconds to start, on a busy machine many.
_PATIENCE_S = 90
_PASSWORD = "a pass/word"
_SETTINGS = """
listeners.tcp.1 = 127.0.0.1:{port}
listeners.ssl.1 = 127.0.0.1:{tls}
ssl_options.cacertfile = {certificate}/cert.pem
ssl_options.certfile = {certificate}/cert.pem
ssl_options.keyfile = {certificate}/key.pem
ssl_options.verify = verify_none
default_user = finderfee
default_pass = {password}
default_vhost = finderfee
log.file = rabbit.log
"""


class Rabbit:
    """The installation; `environment` is what a process is told to use it."""

    def __init__(self, redis_url: str) -> None:
        self._home = nodes.folder()
        self._port, tls, distribution, names = nodes.free_ports(4)
        proof = certificate.ensure_certificate(self._home)
        (self._home / "plugins").write_text("[].\n")
        (self._home / "rabbitmq.conf").write_text(
            _SETTINGS.format(port=self._port, tls=tls, certificate=proof, password=_PASSWORD)
        )
        self._told = data_folder.server_environment() | {
            "HOME": str(self._home),
            "ERL_EPMD_PORT": str(names),
            "ERL_EPMD_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODENAME": f"finderfee{self._port}@localhost",
            "RABBITMQ_DIST_PORT": str(distribution),
            "RABBITMQ_CONFIG_FILE": str(self._home / "rabbitmq.conf"),
            "RABBITMQ_MNESIA_BASE": str(self._home / "mnesia"),
            "RABBITMQ_LOG_BASE": str(self._home / "log"),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(self._home / "plugins"),
            # Its threads would otherwise look for work by burning the tests' cores.
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "+S 2:2 +sbwt none +sbwtdcpu none +sbwtdio none",
        }
        self._names = self._launch("epmd")
        self._server = self._start()
        login = f"finderfee:{quote(_PASSWORD, safe='')}"
        files = f"ssl_ca_certs={proof}/cert.pem"
        self._url = f"amqp://{login}@127.0.0.1:{self._port}/finderfee"
        # Processes speak TLS, and show who they are; the tests look in by the plain port.
        self.environment = {
            "REDIS_URL": redis_url,
            "BROKER_URL": f"amqps://{login}@127.0.0.1:{tls}/finderfee?{files}",
        }

    def lose_primary(self) -> None:
        """Kill it, and start it again with what its queues have written."""
        self._kill()
        self._server = self._start()

    def demote_primary(self) -> None:
        """Stop it for a moment in mid-step: it takes what is said, and answers nothing."""
        self._signal(signal.SIGSTOP)
        assert data_folder.wait_until(lambda: not self._greets(), timeout_s=_PATIENCE_S)
        self._signal(signal.SIGCONT)

    def forget(self) -> None:
        """Lose everything that is carried: the queues are gone."""
        with self._connected() as connection:
            for queue in QUEUES:
                connection.channel().queue_delete(queue)

    def buried(self) -> list[bytes]:
        """Return the names of the queues in which Dramatiq keeps what it could not place; all are quorum queues."""
        found = []
        with self._connected() as connection:
            for queue in QUEUES:
                with suppress(pika.exceptions.ChannelClosedByBroker):  # nobody serves it here
                    name = f"{queue}.XQ"
                    connection.channel().queue_declare(name, passive=True)
                    quorum = {"x-message-ttl": DEAD_MESSAGE_TTL, "x-queue-type": "quorum"}
                    kept = _same_or_none(connection, name, quorum)
                    assert kept is not None, f"{name} is no quorum queue"
                    found += [name.encode()] * kept
        return found

    def close(self) -> None:
        """Stop it and remove its files."""
        self._kill()
        nodes.end(self._names)
        nodes.remove(self._home)

    def _start(self) -> subprocess.Popen[bytes]:
        assert PROGRAM is not None
        server = self._launch(PROGRAM)
        assert data_folder.wait_until(self._greets, timeout_s=_PATIENCE_S), self._log()
        return server

    def _launch(self, program: str) -> subprocess.Popen[bytes]:
        with (self._home / "output").open("ab") as output:
            return subprocess.Popen(
                [program],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=self._told,
                start_new_session=True,
                preexec_fn=nodes.end_with_parent,
            )

    def _kill(self) -> None:
        self._signal(signal.SIGKILL)
        self._server.wait()

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):  # the starter, the server it became, and what that started
            os.killpg(self._server.pid, number)

    def _greets(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self._port), timeout=1) as connection:
                connection.sendall(b"AMQP\x00\x00\x09\x01")
                return connection.recv(1) == b"\x01"
        except OSError:
            return False

    @contextmanager
    def _connected(self) -> Iterator[Any]:
        connection = pika.BlockingConnection(pika.URLParameters(self._url))
        try:
            yield connection
        finally:
            connection.close()

    def _log(self) -> str:
        return (self._home / "output").read_text(errors="replace")


def _same_or_none(connection: Any, name: str, arguments: dict[str, Any]) -> int | None:
    try:
        kept: int = connection.channel().queue_declare(name, durable=True, arguments=arguments).method.message_count
    except pika.exceptions.ChannelClosedByBroker:
        return None
    return kept
