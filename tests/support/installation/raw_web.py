"""A real web server of one worker and few threads, and raw sockets to it."""

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
#: How many clients it holds at once.
MAX_CONNECTIONS = 120
HEALTH_REQUEST = b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"
#: Of a sale; with the length of its body, and further lines.
SALE_HEAD = b"POST /api/tracking/s2s HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n%b\r\n"
CHUNKED_SALE_HEAD = b"POST /api/tracking/s2s HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
#: So long may a machine that is busy take for what is over in milliseconds.
PATIENCE_S = 60
#: What a client of a server in a hurry has for a request, and for a large one: enough for who is held up for a moment.
REQUEST_S, UPLOAD_S = 4, 8
SHORT_TIMEOUTS = {"WEB_TIMEOUTS_S": f"request={REQUEST_S} upload={UPLOAD_S}"}


class WebServer:
    """A web server with one worker of few threads."""

    def __init__(self, port: int, log: Path) -> None:
        self.port, self._log = port, log

    @contextmanager
    def socket(self, payload: bytes = b"", *, receive_bytes: int | None = None) -> Iterator[socket.socket]:
        """Connect, send some bytes and give the socket; with few `receive_bytes` the system keeps little unread."""
        with closing(socket.socket()) as connected:
            if receive_bytes:
                connected.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
            connected.settimeout(PATIENCE_S)
            connected.connect(("127.0.0.1", self.port))
            connected.sendall(payload)
            yield connected

    def log_lines(self) -> list[str]:
        """Return what the server has said so far."""
        return self._log.read_text().splitlines()

    def answers(self) -> bool:
        """Return whether it is up."""
        try:
            return self.status() == 200
        except OSError:
            return False

    def status(self, payload: bytes = HEALTH_REQUEST) -> int:
        """Send a request over a connection of its own and return the status of the answer."""
        with self.socket(payload) as connected:
            return read_answer(connected)[0]

    def metrics(self) -> bytes:
        """Return its page of metrics, with its head."""
        with self.socket(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n") as connected:
            return b"".join(iter(lambda: connected.recv(65536), b""))


def read_answer(connected: socket.socket) -> tuple[int, bytes]:
    """Read one answer with a length and return its status and body."""
    head, _, body = read_until(connected, b"\r\n\r\n").partition(b"\r\n\r\n")
    if head.startswith(b"HTTP/1.1 100"):
        return 100, body
    length = next(int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:"))
    while len(body) < length:
        body += connected.recv(65536)
    return int(head.split(b" ")[1]), body


def read_until(connected: socket.socket, end: bytes) -> bytes:
    """Read on until `end` has come, which must be before the server hangs up."""
    read = b""
    while end not in read:
        piece = connected.recv(65536)
        assert piece, f"the server hung up after {read!r}"
        read += piece
    return read


def is_closed_within(connected: socket.socket, seconds: float) -> bool:
    """Return whether the server hangs up, whatever it says before."""
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
    """Wait until the server has hung up on so many, or has had much time to; returns on how many it has.

    Which of many go is the server's affair: it reads them all at once.
    """
    deadline = time.monotonic() + PATIENCE_S
    left = list(connections)
    while len(connections) - len(left) < at_least and time.monotonic() < deadline:
        left = [connected for connected in left if not is_closed_within(connected, 0.01)]
    return len(connections) - len(left)


@contextmanager
def block_every_thread(web: WebServer, program_id: UUID) -> Iterator[None]:
    """Hold a program's row until the block ends; each thread waits for it, to note where a picture was shown."""
    picture = f"GET /api/v1/r/c.gif?programId={program_id} HTTP/1.1\r\nHost: a\r\n\r\n".encode()
    with ExitStack() as stack:
        holder = stack.enter_context(closing(psycopg2.connect(os.environ["DATABASE_OWNER_URL"])))
        cursor = holder.cursor()
        cursor.execute("select from program where id = %s for update", (str(program_id),))
        waiting = [stack.enter_context(web.socket(picture)) for _ in range(THREADS)]
        deadline = time.monotonic() + PATIENCE_S
        while _count_lock_waiters(cursor) < THREADS:
            assert time.monotonic() < deadline, "the threads do not come that far"
            time.sleep(0.01)
        yield
        holder.rollback()
        assert [read_answer(connected)[0] for connected in waiting] == [200] * THREADS


def _count_lock_waiters(cursor: Any) -> int:
    cursor.execute("select pg_stat_clear_snapshot()")
    cursor.execute(
        "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
    )
    return int(cursor.fetchone()[0])


@contextmanager
def run_server(home: Path, **set_otherwise: str) -> Iterator[tuple[WebServer, Process]]:
    """Start the server, with variables of the environment that differ from these, and stop it at the end.

    It has patience with its clients, unless it is told to be in a HURRY.
    """
    stack = ports.hold_port()
    port = ports.port_number(stack)
    small = {"WEB_CONCURRENCY": "1", "WEB_THREADS": str(THREADS), "LOG_LEVEL": "warning"}
    small["GUNICORN_CMD_ARGS"] = f"--worker-connections {MAX_CONNECTIONS}"
    limits = {"WEB_TIMEOUTS_S": f"request={PATIENCE_S} upload={PATIENCE_S}"}
    env = {**os.environ, **small, **limits, "PORT": str(port), **set_otherwise}
    command = ["gunicorn", "tests.support.running.patient_app:create_app()"]
    process = Process("web", command, env=env, log=home / "web.out")
    server = WebServer(port, home / "web.out")
    try:
        deadline = time.monotonic() + 120
        while not server.answers():
            assert time.monotonic() < deadline and not process.has_ended, server.log_lines()
            time.sleep(0.05)
        yield server, process
    finally:
        process.kill()
        stack.close()
