"""A real web server with one worker and few threads, and raw sockets to it."""

import os
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg2

from tests.support.installation.processes import Process
from tests.support.running import ports

THREADS = 2
#: The most connections that the server accepts.
MAX_CONNECTIONS = 120
HEALTH_REQUEST = b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"
#: The head of a request that posts a sale; its arguments are the length of the body, and further header lines.
SALE_HEAD = b"POST /api/tracking/s2s HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n%b\r\n"
CHUNKED_SALE_HEAD = b"POST /api/tracking/s2s HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
#: The limit for what takes milliseconds, on a busy machine.
PATIENCE_S = 60
#: Short timeouts for a request and for a large one, still enough for a client that is briefly held up.
REQUEST_S, UPLOAD_S = 4, 8
SHORT_TIMEOUTS = {"WEB_TIMEOUTS_S": f"request={REQUEST_S} upload={UPLOAD_S}"}


class WebServer:
    """A web server with one worker of few threads."""

    def __init__(self, port: int, log: Path) -> None:
        self.port, self._log = port, log

    @contextmanager
    def socket(self, payload: bytes = b"", *, receive_bytes: int | None = None) -> Iterator[socket.socket]:
        """Connect, send some bytes and yield the socket; `receive_bytes` limits the socket's receive buffer."""
        with closing(socket.socket()) as connected:
            if receive_bytes:
                connected.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
            connected.settimeout(PATIENCE_S)
            connected.connect(("127.0.0.1", self.port))
            connected.sendall(payload)
            yield connected

    def log_lines(self) -> list[str]:
        """Return the lines of the server's log so far."""
        return self._log.read_text().splitlines()

    def is_up(self) -> bool:
        """Return whether the server responds to a health check."""
        try:
            return self.status() == 200
        except OSError:
            return False

    def status(self, payload: bytes = HEALTH_REQUEST) -> int:
        """Send a request on a new connection and return the status of the response."""
        with self.socket(payload) as connected:
            return read_response(connected)[0]

    def metrics(self) -> bytes:
        """Return the response with the metrics, including its head."""
        with self.socket(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n") as connected:
            return b"".join(iter(lambda: connected.recv(65536), b""))


def read_response(connected: socket.socket) -> tuple[int, bytes]:
    """Read one response with a Content-Length and return its status and body."""
    head, _, body = read_until(connected, b"\r\n\r\n").partition(b"\r\n\r\n")
    if head.startswith(b"HTTP/1.1 100"):
        return 100, body
    length = next(int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:"))
    while len(body) < length:
        body += connected.recv(65536)
    return int(head.split(b" ")[1]), body


def read_until(connected: socket.socket, end: bytes) -> bytes:
    """Read until `end` has arrived. Fails if the server closes the connection first."""
    read = b""
    while end not in read:
        piece = connected.recv(65536)
        assert piece, f"the server closed the connection after {read!r}"
        read += piece
    return read


def is_closed_within(connected: socket.socket, seconds: float) -> bool:
    """Return whether the server closes the connection within some seconds, whatever it sends before."""
    connected.settimeout(seconds)
    try:
        while connected.recv(65536):
            pass
    except TimeoutError:
        return False
    except ConnectionError:
        return True
    return True


def count_closed(connections: list[socket.socket], at_least: int) -> int:
    """Wait until the server has closed `at_least` connections, or the time limit; return how many it has closed.

    Which ones it closes is not defined: the server reads them all at once.
    """
    deadline = time.monotonic() + PATIENCE_S
    open_connections = list(connections)
    while len(connections) - len(open_connections) < at_least and time.monotonic() < deadline:
        open_connections = [connected for connected in open_connections if not is_closed_within(connected, 0.01)]
    return len(connections) - len(open_connections)


@contextmanager
def block_every_thread(web: WebServer, program_id: UUID) -> Iterator[None]:
    """Lock a program's row while the block runs; each thread waits for it, in a request for the tracking pixel."""
    pixel_request = f"GET /api/v1/r/c.gif?programId={program_id} HTTP/1.1\r\nHost: a\r\n\r\n".encode()
    with ExitStack() as stack:
        holder = stack.enter_context(closing(psycopg2.connect(os.environ["DATABASE_OWNER_URL"])))
        cursor = holder.cursor()
        cursor.execute("select from program where id = %s for update", (str(program_id),))
        waiting = [stack.enter_context(web.socket(pixel_request)) for _ in range(THREADS)]
        deadline = time.monotonic() + PATIENCE_S
        while _count_lock_waiters(cursor) < THREADS:
            assert time.monotonic() < deadline, "the threads do not wait for the lock"
            time.sleep(0.01)
        yield
        holder.rollback()
        assert [read_response(connected)[0] for connected in waiting] == [200] * THREADS


def _count_lock_waiters(cursor: Any) -> int:
    cursor.execute("select pg_stat_clear_snapshot()")
    cursor.execute(
        "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
    )
    return int(cursor.fetchone()[0])


@contextmanager
def run_server(home: Path, **variables: str) -> Iterator[tuple[WebServer, Process]]:
    """Run the server while the block runs; `variables` override its environment variables.

    Its timeouts are long, unless `variables` has SHORT_TIMEOUTS.
    """
    stack = ports.hold_port()
    port = ports.port_number(stack)
    small = {"WEB_CONCURRENCY": "1", "WEB_THREADS": str(THREADS), "LOG_LEVEL": "warning"}
    small["GUNICORN_CMD_ARGS"] = f"--worker-connections {MAX_CONNECTIONS}"
    limits = {"WEB_TIMEOUTS_S": f"request={PATIENCE_S} upload={PATIENCE_S}"}
    env = {**os.environ, **small, **limits, "PORT": str(port), **variables}
    command = ["gunicorn", "tests.support.running.patient_app:create_app()"]
    process = Process("web", command, env=env, log=home / "web.out")
    server = WebServer(port, home / "web.out")
    try:
        deadline = time.monotonic() + 120
        while not server.is_up():
            assert time.monotonic() < deadline and not process.has_ended, server.log_lines()
            time.sleep(0.05)
        yield server, process
    finally:
        process.kill()
        stack.close()
