"""Raw sockets against the real web server: who is slow, silent or malformed costs nobody else anything."""

import json
import os
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path

import psycopg2
import pytest

from tests.support.installation.processes import Process

_THREADS, _REQUEST_S, _UPLOAD_S = 2, 2, 5
_ROOM = 120
_HEALTH = b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"
_HEAD = b"POST /api/tracking/s2s HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n%b\r\n"
_CHUNKED = b"POST /api/tracking/s2s HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
_DOCUMENT = b"GET /api/openapi.json HTTP/1.1\r\nHost: a\r\n\r\n"
# So long may a machine that is busy take for what is over in milliseconds.
_PATIENCE_S = 20


class _Web:
    """A web server with one worker of few threads."""

    def __init__(self, port: int, log: Path) -> None:
        self.port, self._log = port, log

    @contextmanager
    def socket(self, sent: bytes = b"", *, receive_bytes: int | None = None) -> Iterator[socket.socket]:
        with closing(socket.socket()) as connected:
            if receive_bytes:
                connected.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
            connected.settimeout(_PATIENCE_S)
            connected.connect(("127.0.0.1", self.port))
            connected.sendall(sent)
            yield connected

    def log_lines(self) -> list[str]:
        return self._log.read_text().splitlines()

    def answers(self) -> bool:
        try:
            return self.status() == 200
        except OSError:
            return False

    def status(self, sent: bytes = _HEALTH) -> int:
        with self.socket(sent) as connected:
            return _answer(connected)[0]

    def metrics(self) -> bytes:
        with self.socket(b"GET /metrics HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n") as connected:
            return b"".join(iter(lambda: connected.recv(65536), b""))


def _answer(connected: socket.socket) -> tuple[int, bytes]:
    """Read one answer with a length and return its status and body."""
    head, _, body = _read_until(connected, b"\r\n\r\n").partition(b"\r\n\r\n")
    if head.startswith(b"HTTP/1.1 100"):
        return 100, body
    length = next(int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:"))
    while len(body) < length:
        body += connected.recv(65536)
    return int(head.split(b" ")[1]), body


def _read_until(connected: socket.socket, end: bytes) -> bytes:
    read = b""
    while end not in read:
        piece = connected.recv(65536)
        assert piece, f"the server hung up after {read!r}"
        read += piece
    return read


def _is_closed_within(connected: socket.socket, seconds: float) -> bool:
    connected.settimeout(seconds)
    try:
        while connected.recv(65536):
            pass
    except TimeoutError:
        return False
    except ConnectionError:
        return True
    return True


@contextmanager
def _running(home: Path) -> Iterator[tuple[_Web, Process]]:
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    small = {"WEB_CONCURRENCY": "1", "WEB_THREADS": str(_THREADS), "LOG_LEVEL": "warning"}
    small["GUNICORN_CMD_ARGS"] = f"--worker-connections {_ROOM}"
    limits = {"REQUEST_TIMEOUT_S": str(_REQUEST_S), "UPLOAD_TIMEOUT_S": str(_UPLOAD_S)}
    env = {**os.environ, **small, **limits, "PORT": str(port)}
    process = Process("web", ["gunicorn", "app:create_app()"], env=env, log=home / "web.out")
    server = _Web(port, home / "web.out")
    try:
        deadline = time.monotonic() + 60
        while not server.answers():
            assert time.monotonic() < deadline and not process.has_ended, server.log_lines()
            time.sleep(0.05)
        yield server, process
    finally:
        process.kill()


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[_Web]:
    with _running(tmp_path_factory.mktemp("web")) as (server, _):
        yield server


@pytest.mark.parametrize(
    "sent",
    [b"", b"GET /heal", _HEAD % (4000, b""), _HEAD % (4000, b"") + b"x", _CHUNKED + b"5\r\nhe"],
    ids=["silent", "half a head", "no body", "half a body", "half a chunk"],
)
def test_clients_that_stop_in_the_middle_cost_no_thread(web, sent):
    with ExitStack() as held:
        for _ in range(20 * _THREADS):
            held.enter_context(web.socket(sent))

        assert [web.status() for _ in range(5)] == [200] * 5


def test_clients_that_have_been_answered_and_stay_cost_no_thread(web):
    with ExitStack() as held:
        for _ in range(20 * _THREADS):
            kept = held.enter_context(web.socket(_HEALTH))
            assert _answer(kept)[0] == 200

        assert web.status() == 200


def test_clients_that_do_not_read_their_answer_cost_no_thread(web):
    with ExitStack() as held:
        for _ in range(20 * _THREADS):
            held.enter_context(web.socket(_DOCUMENT * 32, receive_bytes=4096))

        # more often than the system's own buffers have room for
        assert {web.status() for _ in range(40 * _THREADS * 10)} == {200}


def test_when_there_is_no_more_room_who_has_been_arriving_for_longest_goes(web):
    with ExitStack() as held:
        first = held.enter_context(web.socket(b"GET /heal"))
        for _ in range(_ROOM + 20):
            held.enter_context(web.socket(b"GET /heal"))

        assert web.status() == 200
        assert _is_closed_within(first, _REQUEST_S / 2)


def test_bodies_that_never_end_do_not_fill_the_memory(web):
    endless = _HEAD % (4_000_000, b"") + b"x" * 3_999_999
    with ExitStack() as held:
        for _ in range(20):
            uploading = held.enter_context(web.socket())
            with suppress(ConnectionError):
                uploading.sendall(endless)

        assert web.status(_HEAD % (1_000_000, b"") + b"x" * 1_000_000) == 413
        assert web.status() == 200
    assert b'finderfee_refused_connections_total{why="no_room"}' in web.metrics()


def test_bodies_that_were_answered_are_not_kept_with_their_connections(tmp_path):
    body = b"x" * 4_900_000
    with _running(tmp_path) as (server, process), ExitStack() as held:
        before = _resident_mb(process)
        for _ in range(50):
            connected = held.enter_context(server.socket())
            connected.sendall(_HEAD % (len(body), b"") + body)
            assert _answer(connected)[0] == 413

        assert _resident_mb(process) - before < 120  # together they were 245


def test_bodies_that_wait_for_a_thread_do_not_fill_the_memory(web):
    whole = _HEAD % (4_900_000, b"") + b"x" * 4_900_000
    with _locked("migration"), ExitStack() as held:
        for _ in range(_THREADS):
            held.enter_context(web.socket(b"GET /readyz HTTP/1.1\r\nHost: a\r\n\r\n"))
        time.sleep(0.5)  # both threads wait for the database now
        sent = []
        for _ in range(25):
            connected = held.enter_context(web.socket())
            with suppress(ConnectionError):
                connected.sendall(whole)
            sent.append(connected)

        assert any(_is_closed_within(connected, 0.2) for connected in reversed(sent))
    assert web.status() == 200


@contextmanager
def _locked(table: str) -> Iterator[None]:
    with closing(psycopg2.connect(os.environ["DATABASE_OWNER_URL"])) as connection, connection.cursor() as cursor:
        cursor.execute(f"lock table {table} in access exclusive mode")
        yield


def _resident_mb(process: Process) -> int:
    pages = [int(Path(f"/proc/{child}/statm").read_text().split()[1]) for child in process.children]
    return sum(pages) * os.sysconf("SC_PAGE_SIZE") // 2**20


def test_a_client_that_drips_has_a_deadline_for_the_whole_request(web):
    with web.socket(_HEAD % (4000, b"")) as dripping:
        dripping.settimeout(0.2)
        answer = b""
        for _ in range(_PATIENCE_S * 5):
            try:
                dripping.sendall(b"x")
                answer += dripping.recv(65536)
            except TimeoutError:
                continue
            except ConnectionError:
                break
            break

    assert answer.startswith(b"HTTP/1.1 408 ")
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["error"] == "request_timeout"


def test_a_silent_client_is_hung_up_on_without_a_word(web):
    with web.socket() as silent:
        silent.settimeout(_PATIENCE_S)

        assert silent.recv(100) == b""


def test_a_large_body_has_more_time(web):
    with web.socket(_HEAD % (100_000, b"")) as uploading:
        assert not _is_closed_within(uploading, _REQUEST_S + 1)
        assert _is_closed_within(uploading, _PATIENCE_S)


def test_a_request_in_pieces_is_answered_like_any_other(web):
    with web.socket() as connected:
        for number in range(len(_HEALTH)):
            connected.sendall(_HEALTH[number : number + 1])

        assert _answer(connected)[0] == 200


def test_requests_that_come_together_are_answered_one_after_the_other(web):
    with web.socket(_HEALTH * 3) as connected:
        read = b""
        while read.count(b"HTTP/1.1 200 OK") < 3:
            read += connected.recv(65536)

    assert read.count(b"HTTP/1.1") == 3


def test_one_connection_serves_any_number_of_requests(web):
    with web.socket() as connected:
        for _ in range(20):
            connected.sendall(_HEALTH)
            assert _answer(connected)[0] == 200


def test_an_answer_that_is_read_slowly_arrives_whole(web):
    with web.socket(_DOCUMENT, receive_bytes=4096) as connected:
        time.sleep(0.5)
        status, body = _answer(connected)

    assert status == 200
    assert json.loads(body)["openapi"].startswith("3.")


def test_who_asks_before_sending_a_body_is_told_to_go_ahead_once(web):
    body = b"{}"
    with web.socket(_HEAD % (len(body), b"Expect: 100-continue\r\n")) as connected:
        assert _answer(connected)[0] == 100
        connected.sendall(body)

        assert _read_until(connected, b"\r\n\r\n").startswith(b"HTTP/1.1 401 ")


@pytest.mark.parametrize(
    ("sent", "status", "code"),
    [
        (_CHUNKED + b"zz\r\nhello\r\n0\r\n\r\n", 400, "malformed_request"),
        (_CHUNKED + b"5\r\nhelloXX0\r\n\r\n", 400, "malformed_request"),
        (_CHUNKED + b"5\r\nhello\r\n0\r\nbad trailer\r\n\r\n", 400, "malformed_request"),
        (b"GET / HTTP/9.9\r\nHost: a\r\n\r\n", 400, "malformed_request"),
        (b"nonsense\r\n\r\n", 400, "malformed_request"),
        (b"POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n", 400, "malformed_request"),
        (b"POST /x HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", 400, "malformed_request"),
        (b"POST /x HTTP/1.1\r\nTransfer-Encoding: vapour\r\n\r\n", 501, "unsupported_transfer_coding"),
        (b"GET /" + b"x" * 9000 + b" HTTP/1.1\r\nHost: a\r\n\r\n", 414, "address_too_long"),
        (b"GET / HTTP/1.1\r\nX: " + b"x" * 9000 + b"\r\n\r\n", 431, "headers_too_large"),
        (b"GET / HTTP/1.1\r\nX: " + b"x" * 70_000, 431, "headers_too_large"),
        (_HEAD % (10**12, b""), 413, "payload_too_large"),
        (_HEAD % (10**12, b"Expect: 100-continue\r\n"), 413, "payload_too_large"),
    ],
)
def test_what_is_malformed_or_too_large_gets_one_clear_answer_and_the_connection_ends(web, sent, status, code):
    with web.socket(sent) as connected:
        answered, body = _answer(connected)

        assert (answered, json.loads(body)["error"]) == (status, code)
        assert _is_closed_within(connected, _PATIENCE_S)


def test_a_malformed_chunk_is_one_line_in_the_log(web):
    before = len(web.log_lines())

    web.status(_CHUNKED + b"zz\r\nhello\r\n0\r\n\r\n")

    said = [json.loads(line) for line in web.log_lines()[before:]]
    assert [(line["event"], line["status"]) for line in said] == [("request.malformed", 400)]


def test_what_was_kept_out_is_counted(web):
    web.status(_CHUNKED + b"zz\r\n\r\n")

    assert b'finderfee_refused_connections_total{why="malformed_request"}' in web.metrics()


def test_a_body_of_chunks_is_read_like_any_other(web):
    head = b"POST /api/v1/track/click HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"

    assert web.status(head + b'9\r\n{"slug": \r\n9\r\n"nobody"}\r\n0\r\n\r\n') == 200


def test_a_server_that_is_told_to_end_answers_who_is_in_the_middle_of_a_request(tmp_path):
    with _running(tmp_path) as (server, process), server.socket(_HEAD % (2, b"") + b"{") as sending:
        with server.socket(_HEALTH) as kept:
            assert _answer(kept)[0] == 200
            process.ask_to_end()
            time.sleep(0.3)
            sending.sendall(b"}")

            assert _read_until(sending, b"\r\n\r\n").startswith(b"HTTP/1.1 401 ")
            assert _is_closed_within(kept, _PATIENCE_S)
        assert process.wait() == 0


def test_the_server_listens_on_this_machine_alone_unless_told_otherwise(web):
    # all of 127.0.0.0/8 is this machine, and one address of it is what is listened on
    with closing(socket.socket()) as probe, pytest.raises(ConnectionRefusedError):
        probe.connect(("127.0.0.2", web.port))
