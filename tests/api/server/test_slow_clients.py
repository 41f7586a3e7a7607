"""Raw sockets against the real web server: who is slow or silent costs nobody else anything."""

import json
import os
import socket
import time
from contextlib import ExitStack, closing, suppress
from pathlib import Path

import pytest

from tests.support.installation.processes import Process
from tests.support.installation.raw_web import (
    CHUNKED,
    HEAD,
    HEALTH,
    HURRY,
    PATIENCE_S,
    ROOM,
    THREADS,
    UPLOAD_S,
    WebServer,
    block_every_thread,
    count_closed,
    is_closed_within,
    read_answer,
    read_until,
    run_server,
)

_DOCUMENT = b"GET /api/openapi.json HTTP/1.1\r\nHost: a\r\n\r\n"


@pytest.mark.parametrize(
    "sent",
    [b"", b"GET /heal", HEAD % (4000, b""), HEAD % (4000, b"") + b"x", CHUNKED + b"5\r\nhe"],
    ids=["silent", "half a head", "no body", "half a body", "half a chunk"],
)
def test_clients_that_stop_in_the_middle_cost_no_thread(web, sent):
    with ExitStack() as held:
        for _ in range(20 * THREADS):
            held.enter_context(web.socket(sent))

        assert [web.status() for _ in range(5)] == [200] * 5


def test_clients_that_have_been_answered_and_stay_cost_no_thread(web):
    with ExitStack() as held:
        for _ in range(20 * THREADS):
            kept = held.enter_context(web.socket(HEALTH))
            assert read_answer(kept)[0] == 200

        assert web.status() == 200


def test_clients_that_do_not_read_their_answer_cost_no_thread(web):
    with ExitStack() as held:
        for _ in range(20 * THREADS):
            held.enter_context(web.socket(_DOCUMENT * 32, receive_bytes=4096))

        # more often than the system's own buffers have room for
        assert {web.status() for _ in range(40 * THREADS * 10)} == {200}


def test_when_there_is_no_more_room_who_has_been_arriving_for_longest_goes(web):
    with ExitStack() as held:
        first = held.enter_context(web.socket(HEAD % (4000, b"Expect: 100-continue\r\n")))
        assert read_answer(first)[0] == 100  # so it has begun to arrive before all others
        for _ in range(ROOM + 20):
            held.enter_context(web.socket(b"GET /heal"))

        assert web.status() == 200
        assert is_closed_within(first, PATIENCE_S / 2)


def test_bodies_that_never_end_do_not_fill_the_memory(web):
    with ExitStack() as held:
        uploading = _send_each(held, web, HEAD % (4_000_000, b"") + b"x" * 3_999_999, times=20)

        assert count_closed(uploading, 20 - 16) >= 20 - 16  # of 80 MB no more than 64 are kept
        assert web.status(HEAD % (1_000_000, b"") + b"x" * 1_000_000) == 413
        assert web.status() == 200
    assert b'finderfee_refused_connections_total{why="no_room"}' in web.metrics()


def test_bodies_that_were_answered_are_not_kept_with_their_connections(tmp_path):
    body = b"x" * 4_900_000
    with run_server(tmp_path) as (server, process), ExitStack() as held:
        before = _resident_mb(process)
        for _ in range(50):
            connected = held.enter_context(server.socket())
            connected.sendall(HEAD % (len(body), b"") + body)
            assert read_answer(connected)[0] == 413

        assert _resident_mb(process) - before < 120  # together they were 245


def test_bodies_that_wait_for_a_thread_do_not_fill_the_memory(brand, web):
    brand.program()
    with block_every_thread(web, brand.programs[0]), ExitStack() as held:
        uploaded = _send_each(held, web, HEAD % (4_900_000, b"") + b"x" * 4_900_000, times=25)

        assert count_closed(uploaded, 25 - 13) >= 25 - 13  # of 122 MB no more than 64 are kept

    assert web.status() == 200


def _send_each(held: ExitStack, web: WebServer, sent: bytes, *, times: int) -> list[socket.socket]:
    """Send the same over many connections, whether or not the server takes it."""
    connections = [held.enter_context(web.socket()) for _ in range(times)]
    for connected in connections:
        with suppress(ConnectionError):
            connected.sendall(sent)
    return connections


def _resident_mb(process: Process) -> int:
    pages = [int(Path(f"/proc/{child}/statm").read_text().split()[1]) for child in process.children]
    return sum(pages) * os.sysconf("SC_PAGE_SIZE") // 2**20


@pytest.fixture(scope="module")
def hasty(tmp_path_factory):
    """A server that gives its clients little time."""
    with run_server(tmp_path_factory.mktemp("hasty"), **HURRY) as (server, _):
        yield server


def test_a_client_that_drips_has_a_deadline_for_the_whole_request(hasty):
    with hasty.socket(HEAD % (4000, b"")) as dripping:
        dripping.settimeout(0.2)
        told = b""
        for _ in range(PATIENCE_S * 5):
            with suppress(ConnectionError):  # it may have hung up by now, and what it said before is there to read
                dripping.sendall(b"x")
            with suppress(TimeoutError):
                told = dripping.recv(65536)
                break

    assert told.startswith(b"HTTP/1.1 408 ")
    assert json.loads(told.partition(b"\r\n\r\n")[2])["error"] == "request_timeout"


def test_a_silent_client_is_hung_up_on_without_a_word(hasty):
    with hasty.socket() as silent:
        silent.settimeout(PATIENCE_S)

        assert silent.recv(100) == b""


def test_a_large_body_has_more_time(hasty):
    begun = time.monotonic()
    with hasty.socket(HEAD % (100_000, b"")) as uploading:
        assert is_closed_within(uploading, PATIENCE_S)

    assert time.monotonic() - begun >= UPLOAD_S


def test_an_answer_that_is_read_slowly_arrives_whole(web):
    with web.socket(_DOCUMENT, receive_bytes=4096) as connected:
        time.sleep(0.5)
        status, body = read_answer(connected)

    assert status == 200
    assert json.loads(body)["openapi"].startswith("3.")


def test_a_client_that_goes_on_taking_a_little_has_a_deadline_for_the_whole_answer(tmp_path):
    answers = 32
    last = b"GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
    with (
        run_server(tmp_path, WEB_TIMEOUTS_S=f"request={PATIENCE_S} upload={PATIENCE_S} answer=1") as (server, _),
        server.socket(_DOCUMENT * answers + last, receive_bytes=4096) as dawdling,
    ):
        taken = b""
        for _ in range(40):
            taken += dawdling.recv(2048)
            time.sleep(0.1)
        with suppress(ConnectionError):
            while piece := dawdling.recv(65536):
                taken += piece

    assert 0 < taken.count(b"HTTP/1.1 200 OK") < answers


def test_a_server_that_is_told_to_end_answers_who_is_in_the_middle_of_a_request(tmp_path):
    with (
        run_server(tmp_path) as (server, process),
        server.socket(HEAD % (2, b"") + b"{") as sending,
    ):
        with server.socket(HEALTH) as kept:
            assert read_answer(kept)[0] == 200
            process.ask_to_end()
            time.sleep(0.3)
            sending.sendall(b"}")

            assert read_until(sending, b"\r\n\r\n").startswith(b"HTTP/1.1 401 ")
            assert is_closed_within(kept, PATIENCE_S)
        assert process.wait() == 0


def test_the_server_listens_on_this_machine_alone_unless_told_otherwise(web):
    # all of 127.0.0.0/8 is this machine, and one address of it is what is listened on
    with closing(socket.socket()) as probe, pytest.raises(ConnectionRefusedError):
        probe.connect(("127.0.0.2", web.port))
