"""Raw sockets against the real web server: slow or silent clients do not affect others."""

import json
import os
import socket
import time
from contextlib import ExitStack, closing, suppress
from pathlib import Path

import pytest

from tests.support.installation.processes import Process
from tests.support.installation.raw_web import (
    CHUNKED_SALE_HEAD,
    HEALTH_REQUEST,
    MAX_CONNECTIONS,
    PATIENCE_S,
    SALE_HEAD,
    SHORT_TIMEOUTS,
    THREADS,
    UPLOAD_S,
    WebServer,
    block_every_thread,
    count_closed,
    is_closed_within,
    read_response,
    read_until,
    run_server,
)

_DOCUMENT = b"GET /api/openapi.json HTTP/1.1\r\nHost: a\r\n\r\n"


@pytest.mark.parametrize(
    "request_bytes",
    [b"", b"GET /heal", SALE_HEAD % (4000, b""), SALE_HEAD % (4000, b"") + b"x", CHUNKED_SALE_HEAD + b"5\r\nhe"],
    ids=["silent", "half a head", "no body", "half a body", "half a chunk"],
)
def test_clients_stopping_mid_request_block_no_thread(web, request_bytes):
    with ExitStack() as stack:
        for _ in range(20 * THREADS):
            stack.enter_context(web.socket(request_bytes))

        assert [web.status() for _ in range(5)] == [200] * 5


def test_idle_keep_alive_clients_block_no_thread(web):
    with ExitStack() as stack:
        for _ in range(20 * THREADS):
            connection = stack.enter_context(web.socket(HEALTH_REQUEST))
            assert read_response(connection)[0] == 200

        assert web.status() == 200


def test_clients_not_reading_their_response_block_no_thread(web):
    with ExitStack() as stack:
        for _ in range(20 * THREADS):
            stack.enter_context(web.socket(_DOCUMENT * 32, receive_bytes=4096))

        # more than the buffers of the system hold
        assert {web.status() for _ in range(40 * THREADS * 10)} == {200}


def test_full_server_closes_the_longest_arriving_connection(web):
    with ExitStack() as stack:
        first = stack.enter_context(web.socket(SALE_HEAD % (4000, b"Expect: 100-continue\r\n")))
        assert read_response(first)[0] == 100  # so it started to arrive before all others
        for _ in range(MAX_CONNECTIONS + 20):
            stack.enter_context(web.socket(b"GET /heal"))

        assert web.status() == 200
        assert is_closed_within(first, PATIENCE_S / 2)


def test_unfinished_bodies_do_not_fill_the_memory(web):
    with ExitStack() as stack:
        uploading = _send_each(stack, web, SALE_HEAD % (4_000_000, b"") + b"x" * 3_999_999, times=20)

        assert count_closed(uploading, 20 - 16) >= 20 - 16  # of 80 MB no more than 64 are kept
        assert web.status(SALE_HEAD % (1_000_000, b"") + b"x" * 1_000_000) == 413
        assert web.status() == 200
    assert b'finderfee_refused_connections_total{why="no_room"}' in web.metrics()


def test_answered_bodies_are_freed_while_connections_stay_open(tmp_path):
    body = b"x" * 4_900_000
    with run_server(tmp_path) as (server, process), ExitStack() as stack:
        before = _measure_resident_mb(process)
        for _ in range(50):
            connected = stack.enter_context(server.socket())
            connected.sendall(SALE_HEAD % (len(body), b"") + body)
            assert read_response(connected)[0] == 413

        assert _measure_resident_mb(process) - before < 120  # together they were 245


def test_queued_bodies_do_not_fill_the_memory(brand, web):
    brand.program()
    with block_every_thread(web, brand.programs[0]), ExitStack() as stack:
        uploaded = _send_each(stack, web, SALE_HEAD % (4_900_000, b"") + b"x" * 4_900_000, times=25)

        assert count_closed(uploaded, 25 - 13) >= 25 - 13  # of 122 MB no more than 64 are kept

    assert web.status() == 200


def _send_each(stack: ExitStack, web: WebServer, request_bytes: bytes, *, times: int) -> list[socket.socket]:
    """Send the same bytes over many connections, whether or not the server accepts them."""
    connections = [stack.enter_context(web.socket()) for _ in range(times)]
    for connected in connections:
        with suppress(ConnectionError):
            connected.sendall(request_bytes)
    return connections


def _measure_resident_mb(process: Process) -> int:
    pages = [int(Path(f"/proc/{child}/statm").read_text().split()[1]) for child in process.children]
    return sum(pages) * os.sysconf("SC_PAGE_SIZE") // 2**20


@pytest.fixture(scope="module")
def impatient_server(tmp_path_factory):
    """A server that gives its clients little time."""
    with run_server(tmp_path_factory.mktemp("hasty"), **SHORT_TIMEOUTS) as (server, _):
        yield server


def test_dripping_client_has_a_deadline_for_the_whole_request(impatient_server):
    with impatient_server.socket(SALE_HEAD % (4000, b"")) as dripping:
        dripping.settimeout(0.2)
        response = b""
        for _ in range(PATIENCE_S * 5):
            with suppress(ConnectionError):  # the server may have closed; its response can still be read
                dripping.sendall(b"x")
            with suppress(TimeoutError):
                response = dripping.recv(65536)
                break

    assert response.startswith(b"HTTP/1.1 408 ")
    assert json.loads(response.partition(b"\r\n\r\n")[2])["error"] == "request_timeout"


def test_silent_client_is_closed_without_a_response(impatient_server):
    with impatient_server.socket() as silent:
        silent.settimeout(PATIENCE_S)

        assert silent.recv(100) == b""


def test_large_body_has_a_longer_deadline(impatient_server):
    started_at = time.monotonic()
    with impatient_server.socket(SALE_HEAD % (100_000, b"")) as uploading:
        assert is_closed_within(uploading, PATIENCE_S)

    assert time.monotonic() - started_at >= UPLOAD_S


def test_slowly_read_response_arrives_complete(web):
    with web.socket(_DOCUMENT, receive_bytes=4096) as connected:
        time.sleep(0.5)
        status, body = read_response(connected)

    assert status == 200
    assert json.loads(body)["openapi"].startswith("3.")


def test_slow_reader_has_a_deadline_for_the_whole_response(tmp_path):
    answers = 32
    last = b"GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
    with (
        run_server(tmp_path, WEB_TIMEOUTS_S=f"request={PATIENCE_S} upload={PATIENCE_S} answer=1") as (server, _),
        server.socket(_DOCUMENT * answers + last, receive_bytes=4096) as dawdling,
    ):
        received = b""
        for _ in range(40):
            received += dawdling.recv(2048)
            time.sleep(0.1)
        with suppress(ConnectionError):
            while piece := dawdling.recv(65536):
                received += piece

    assert 0 < received.count(b"HTTP/1.1 200 OK") < answers


def test_stopping_server_answers_requests_in_progress(tmp_path):
    with (
        run_server(tmp_path) as (server, process),
        server.socket(SALE_HEAD % (2, b"") + b"{") as sending,
    ):
        with server.socket(HEALTH_REQUEST) as idle:
            assert read_response(idle)[0] == 200
            process.terminate()
            time.sleep(0.3)
            sending.sendall(b"}")

            assert read_until(sending, b"\r\n\r\n").startswith(b"HTTP/1.1 401 ")
            assert is_closed_within(idle, PATIENCE_S)
        assert process.wait() == 0


def test_server_listens_only_on_loopback_by_default(web):
    # all of 127.0.0.0/8 is this machine, and one address of it is what is listened on
    with closing(socket.socket()) as probe, pytest.raises(ConnectionRefusedError):
        probe.connect(("127.0.0.2", web.port))
