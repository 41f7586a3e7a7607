"""How responses of well-behaved and faulty receivers are read; real sockets, real TLS."""

import socket
import ssl
import struct
import time

import pytest

from adapters.safe_http.client import Client, ReceiverUnreachable
from tests.support.outside.raw_receivers import OK, StartReceiver, answer_with, post, wait_for_socket_activity


@pytest.mark.parametrize(
    ("raw", "status", "excerpt"),
    [
        (b"HTTP/1.1 204 No Content\r\n\r\n", 204, ""),
        (b"HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", 304, ""),
        (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + OK, 200, "ok"),
        (b"HTTP/1.1 200\nContent-Length: 2, 2\n\nok", 200, "ok"),
        (
            b"HTTP/1.1 500 Oops\r\nTransfer-Encoding: Chunked\r\n\r\n1;x=y\r\na\r\n2\r\nbc\r\n0\r\nT: v\r\n\r\n",
            500,
            "abc",
        ),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\na\x00\xff\xc3\xa9!", 200, "a\N{REPLACEMENT CHARACTER}\xe9!"),
        (
            b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n\x1f\x8b",
            200,
            "\x1f\N{REPLACEMENT CHARACTER}",
        ),
        (b"HTTP/1.1 400 No\r\nContent-Length: 1500\r\n\r\n" + b"\xe2\x82\xac" * 500, 400, "\N{EURO SIGN}" * 500),
        (b"HTTP/1.1 400 No\r\nContent-Length: 502\r\n\r\n" + b"b" * 502, 400, "b" * 500),
    ],
)
def test_complete_response_keeps_the_connection(
    raw: bytes, status: int, excerpt: str, client: Client, receive: StartReceiver
) -> None:
    receiver = receive(answer_with(raw))

    answers = [post(client, receiver.url) for _ in range(2)]

    assert [(answer.status, answer.excerpt) for answer in answers] == [(status, excerpt)] * 2
    assert receiver.connections == 1


@pytest.mark.parametrize(
    "raw",
    [
        b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\nConnection: Close\r\nContent-Length: 2\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
        OK + b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nlies",
    ],
)
def test_ambiguous_end_of_response_closes_the_connection(raw: bytes, client: Client, receive: StartReceiver) -> None:
    receiver = receive(answer_with(raw))

    assert [post(client, receiver.url).excerpt for _ in range(2)] == ["ok", "ok"]
    assert receiver.connections == 2


def test_connection_with_data_while_idle_is_not_reused(client: Client, receive: StartReceiver) -> None:
    receiver = receive(answer_with(OK, b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nlies", pause_s=0.1))
    post(client, receiver.url)
    wait_for_socket_activity(client)

    assert post(client, receiver.url).excerpt == "ok"
    assert receiver.connections == 2


def test_response_may_end_with_the_connection(client: Client, receive: StartReceiver) -> None:
    receiver = receive(answer_with(b"HTTP/1.1 200 OK\r\n\r\nok", keep=False))

    assert post(client, receiver.url).excerpt == "ok"


@pytest.mark.parametrize(
    "raw",
    [
        b"hello\r\n\r\n",
        b"HTTP/2 200\r\n\r\n",
        b"HTTP/1.1 20x OK\r\n\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nA: b\r\n folded\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nA: b\x00\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2, 3\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok!\r\n",
    ],
)
def test_malformed_response_is_unreachable(raw: bytes, client: Client, receive: StartReceiver) -> None:
    receiver = receive(answer_with(raw))

    with pytest.raises(ReceiverUnreachable) as unreachable:
        post(client, receiver.url)

    assert unreachable.value.reason == "the response is not valid HTTP/1.1"


def test_endless_headers_are_unreachable(client: Client, receive: StartReceiver) -> None:
    receiver = receive(answer_with(b"HTTP/1.1 200 OK\r\n", *[b"A: " + b"b" * 1000 + b"\r\n"] * 100))

    with pytest.raises(ReceiverUnreachable, match="headers are too large"):
        post(client, receiver.url)


@pytest.mark.parametrize(
    "partial_response", [b"", b"HTTP/1.1 200 OK\r\nContent-Le", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok"]
)
def test_early_close_is_unreachable_and_not_retried(
    partial_response: bytes, client: Client, receive: StartReceiver
) -> None:
    receiver = receive(answer_with(partial_response, keep=False))

    with pytest.raises(ReceiverUnreachable, match="closed before the response was complete"):
        post(client, receiver.url)

    assert len(receiver.requests) == 1


def test_reset_after_headers_is_unreachable(client: Client, receive: StartReceiver) -> None:
    def reset(conn: ssl.SSLSocket, number: int, body: bytes) -> bool:
        conn.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n")
        time.sleep(0.1)
        conn.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        return False

    receiver = receive(reset)

    with pytest.raises(ReceiverUnreachable, match=r"connection reset by peer|closed before the response was complete"):
        post(client, receiver.url)
