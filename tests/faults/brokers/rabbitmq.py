"""A broker installation that is one RabbitMQ node, from the distribution's package."""

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

#: The program of Debian's package; the usual start script must run as root or as a certain user. None if not installed.
PROGRAM = shutil.which("rabbitmq-server", path="/usr/lib/rabbitmq/bin")
#: A node takes seconds to start, and longer on a busy machine.
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


class RabbitMQ:
    """A running RabbitMQ node; `environment` has the variables of processes that use it."""

    def __init__(self, redis_url: str) -> None:
        self._home = nodes.create_folder()
        self._port, tls, distribution, port_mapper = nodes.find_free_ports(4)
        certificate_folder = certificate.ensure_certificate(self._home)
        (self._home / "plugins").write_text("[].\n")
        (self._home / "rabbitmq.conf").write_text(
            _SETTINGS.format(port=self._port, tls=tls, certificate=certificate_folder, password=_PASSWORD)
        )
        self._server_environment = data_folder.server_environment() | {
            "HOME": str(self._home),
            "ERL_EPMD_PORT": str(port_mapper),
            "ERL_EPMD_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODENAME": f"finderfee{self._port}@localhost",
            "RABBITMQ_DIST_PORT": str(distribution),
            "RABBITMQ_CONFIG_FILE": str(self._home / "rabbitmq.conf"),
            "RABBITMQ_MNESIA_BASE": str(self._home / "mnesia"),
            "RABBITMQ_LOG_BASE": str(self._home / "log"),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(self._home / "plugins"),
            # Otherwise its threads would busy-wait on the cores that the tests need.
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "+S 2:2 +sbwt none +sbwtdcpu none +sbwtdio none",
        }
        self._port_mapper = self._launch("epmd")
        self._server = self._start()
        login = f"finderfee:{quote(_PASSWORD, safe='')}"
        files = f"ssl_ca_certs={certificate_folder}/cert.pem"
        self._url = f"amqp://{login}@127.0.0.1:{self._port}/finderfee"
        # Processes use TLS with a client certificate; the tests themselves use the plain port.
        self.environment = {
            "REDIS_URL": redis_url,
            "BROKER_URL": f"amqps://{login}@127.0.0.1:{tls}/finderfee?{files}",
        }

    def lose_primary(self) -> None:
        """Kill the node, and start it again with its durable queues."""
        self._kill()
        self._server = self._start()

    def demote_primary(self) -> None:
        """Pause the node for a moment: it accepts connections and does not respond."""
        self._signal(signal.SIGSTOP)
        assert data_folder.wait_until(lambda: not self._is_up(), timeout_s=_PATIENCE_S)
        self._signal(signal.SIGCONT)

    def lose_messages(self) -> None:
        """Delete all queues."""
        with self._connect() as connection:
            for queue in QUEUES:
                connection.channel().queue_delete(queue)

    def list_dead_letters(self) -> list[bytes]:
        """Return the dead letter queue of each of Dramatiq's dead letters; assert that all are quorum queues."""
        dead_letters: list[bytes] = []
        with self._connect() as connection:
            for queue in QUEUES:
                with suppress(pika.exceptions.ChannelClosedByBroker):  # the queue does not exist
                    name = f"{queue}.XQ"
                    connection.channel().queue_declare(name, passive=True)
                    quorum = {"x-message-ttl": DEAD_MESSAGE_TTL, "x-queue-type": "quorum"}
                    message_count = _count_if_same(connection, name, quorum)
                    assert message_count is not None, f"{name} is not a quorum queue"
                    dead_letters += [name.encode()] * message_count
        return dead_letters

    def close(self) -> None:
        """Kill the node and remove its files."""
        self._kill()
        nodes.kill_process(self._port_mapper)
        nodes.remove_folder(self._home)

    def _start(self) -> subprocess.Popen[bytes]:
        assert PROGRAM is not None
        server = self._launch(PROGRAM)
        assert data_folder.wait_until(self._is_up, timeout_s=_PATIENCE_S), self._log()
        return server

    def _launch(self, program: str) -> subprocess.Popen[bytes]:
        with (self._home / "output").open("ab") as output:
            return subprocess.Popen(
                [program],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=self._server_environment,
                start_new_session=True,
                preexec_fn=nodes.end_with_parent,
            )

    def _kill(self) -> None:
        self._signal(signal.SIGKILL)
        self._server.wait()

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):  # the server and its child processes
            os.killpg(self._server.pid, number)

    def _is_up(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self._port), timeout=1) as connection:
                connection.sendall(b"AMQP\x00\x00\x09\x01")
                return connection.recv(1) == b"\x01"
        except OSError:
            return False

    @contextmanager
    def _connect(self) -> Iterator[Any]:
        connection = pika.BlockingConnection(pika.URLParameters(self._url))
        try:
            yield connection
        finally:
            connection.close()

    def _log(self) -> str:
        return (self._home / "output").read_text(errors="replace")


def _count_if_same(connection: Any, name: str, arguments: dict[str, Any]) -> int | None:
    """Return the number of messages of a queue, or None if it was declared with other arguments."""
    try:
        message_count: int = (
            connection.channel().queue_declare(name, durable=True, arguments=arguments).method.message_count
        )
    except pika.exceptions.ChannelClosedByBroker:
        return None
    return message_count
