"""Reuse of idle connections: only by their own process, only while their state is certain, and bounded."""

import os
import socket
import ssl
import struct
import threading
from contextlib import closing
from pathlib import Path

import pytest

from adapters.safe_http import addresses, connection
from adapters.safe_http import client as safe_http
from adapters.safe_http.addresses import UrlRefused
from adapters.safe_http.client import Client, Policy, ReceiverUnreachable
from adapters.safe_http.connection import HttpConnection
from tests.support.outside.raw_receivers import OK, StartReceiver, answer_with, post, wait_for_socket_activity
from tests.support.threads import run_in_threads


def test_request_read_on_a_reused_connection_is_not_retried(client: Client, receive: StartReceiver) -> None:
    receiver = receive(lambda conn, number, body: number != 2 and answer_with(OK)(conn, number, body))
    post(client, receiver.url)

    with pytest.raises(ReceiverUnreachable, match="closed before the response was complete"):
        post(client, receiver.url, b"two")

    assert [body for _, body in receiver.requests] == [b"{}", b"two"]
    assert receiver.connections == 1


def test_broken_idle_connection_is_replaced_before_sending(
    client: Client, receive: StartReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    def reset_soon(conn: ssl.SSLSocket, number: int, body: bytes) -> bool:
        answer_with(OK, pause_s=0.2)(conn, number, body)
        if number == 1:
            conn.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        return number != 1

    receiver = receive(reset_soon)
    post(client, receiver.url)
    wait_for_socket_activity(client)
    monkeypatch.setattr(HttpConnection, "is_quiet", lambda connection: True)  # it breaks just after the check

    assert post(client, receiver.url, b"two").excerpt == "ok"

    assert [body for _, body in receiver.requests] == [b"{}", b"two"]
    assert receiver.connections == 2


def test_idle_connection_is_not_reused_near_its_keep_alive_end(client: Client, receive: StartReceiver) -> None:
    short_keep_alive = OK.replace(b"\r\n\r\n", b"\r\nKeep-Alive: max=100, timeout=1\r\n\r\n")
    long_keep_alive = short_keep_alive.replace(b"timeout=1", b'TimeOut="60"')
    receiver = receive(
        lambda conn, number, body: answer_with(short_keep_alive if number == 1 else long_keep_alive)(conn, number, body)
    )

    for _ in range(3):
        post(client, receiver.url)

    assert receiver.connections == 2


def test_connection_closed_while_idle_causes_no_second_request(client: Client, receive: StartReceiver) -> None:
    receiver = receive(answer_with(OK, keep=False))
    post(client, receiver.url)
    wait_for_socket_activity(client)

    post(client, receiver.url)

    assert (receiver.connections, len(receiver.requests)) == (2, 2)


def test_idle_connection_is_not_reused_beyond_its_maximum_age(
    client: Client, receive: StartReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    receiver = receive()
    monkeypatch.setattr(connection, "_IDLE_S", 0)

    post(client, receiver.url)
    post(client, receiver.url)

    assert receiver.connections == 2


def test_reused_connection_is_vetted_again(
    tls_dir: Path, dns: list[list[str]], receive: StartReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(safe_http, "_VETTED_S", 0)
    monkeypatch.setattr(addresses, "is_public", lambda address: address != "127.0.0.9")
    receiver = receive()
    moved = receive(address="127.0.0.2", port=receiver.port)
    url = f"https://hook.test:{receiver.port}/"
    policy = Policy(ports=frozenset({receiver.port}), ca_bundle=str(tls_dir / "ca.pem"))
    dns += [["127.0.0.1"], ["127.0.0.1"], ["127.0.0.2"], ["127.0.0.2"], ["127.0.0.9"]]

    with closing(Client(policy)) as client:
        for _ in range(3):
            post(client, url)
        with pytest.raises(UrlRefused, match="url_not_allowed"):
            post(client, url)

    assert (receiver.connections, len(receiver.requests)) == (1, 2)
    assert (moved.connections, len(moved.requests)) == (1, 1)


def test_total_idle_connections_are_bounded(
    client: Client, receive: StartReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "_MAX_IDLE", 1)
    older, newer = receive(), receive()

    for receiver in (older, newer, newer, older):
        post(client, receiver.url)

    assert (older.connections, newer.connections) == (2, 1)


def test_idle_connections_per_host_are_bounded(
    client: Client, receive: StartReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "_MAX_IDLE_PER_HOST", 1)
    barrier = threading.Barrier(2)

    def script(conn: ssl.SSLSocket, number: int, body: bytes) -> bool:
        barrier.wait(60)
        return answer_with(OK)(conn, number, body)

    receiver = receive(script)

    run_in_threads(2, lambda number: post(client, receiver.url))
    run_in_threads(2, lambda number: post(client, receiver.url))

    assert receiver.connections == 3


def test_eight_threads_share_a_client(client: Client, receive: StartReceiver) -> None:
    def echo(conn: ssl.SSLSocket, number: int, body: bytes) -> bool:
        return answer_with(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)(conn, number, body)

    receiver = receive(echo)

    def call(number: int) -> None:
        for turn in range(25):
            assert post(client, receiver.url, b"%d-%d" % (number, turn)).excerpt == f"{number}-{turn}"

    run_in_threads(8, call)

    assert len({body for _, body in receiver.requests}) == len(receiver.requests) == 200
    assert receiver.connections <= 8


def test_closed_client_opens_new_connections(client: Client, receive: StartReceiver) -> None:
    receiver = receive()

    post(client, receiver.url)
    client.close()
    post(client, receiver.url)

    assert receiver.connections == 2


def test_forked_process_opens_its_own_connections(client: Client, receive: StartReceiver) -> None:
    receiver = receive()
    post(client, receiver.url)

    child = os.fork()
    if child == 0:
        os._exit(0 if post(client, receiver.url).status == 200 else 1)
    _, code = os.waitpid(child, 0)
    connections_with_child = receiver.connections
    post(client, receiver.url)

    assert (code, connections_with_child) == (0, 2)
    assert (receiver.connections, len(receiver.requests)) == (2, 3)
