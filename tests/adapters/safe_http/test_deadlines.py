"""However a receiver stalls or goes on, a call ends in time; real sockets, real TLS."""

import socket
import ssl
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from adapters.embedded.data_folder import wait_until
from adapters.safe_http.client import Client, ReceiverUnreachable
from tests.support.outside.raw_receivers import OK, StartReceiver, answering, dribbling, post


def test_dns_that_hangs_ends_at_the_deadline(hasty: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: time.sleep(3))

    _ends_at_deadline(hasty, "https://hook.test/")


def _ends_at_deadline(hasty: Client, url: str, body: bytes = b"{}") -> None:
    started = time.monotonic()
    with pytest.raises(ReceiverUnreachable, match="no complete response within 1 s"):
        post(hasty, url, body)
    assert 0.9 < time.monotonic() - started < 10  # a busy machine is slow; a receiver without a deadline is not over


@pytest.mark.parametrize(
    "head",
    [b"H", b"HTTP/1.1 200 OK\r\nX-A: ", b"HTTP/1.1 200 OK\r\nContent-Length: 60\r\n\r\n", b"HTTP/1.1 200 OK\r\n\r\n"],
)
def test_slow_answer_ends_at_the_deadline(head: bytes, hasty: Client, receive: StartReceiver) -> None:
    _ends_at_deadline(hasty, receive(dribbling(head)).url)


def test_slow_body_of_a_kept_connection_ends_at_the_deadline(
    client: Client, hurry: Callable[[], None], receive: StartReceiver
) -> None:
    def script(conn: ssl.SSLSocket, number: int, body: bytes) -> bool:
        first = answering(OK)
        return (first if number == 1 else dribbling(b"HTTP/1.1 200 OK\r\n\r\n"))(conn, number, body)

    receiver = receive(script)
    post(client, receiver.url)
    hurry()

    _ends_at_deadline(client, receiver.url)
    assert wait_until(lambda: len(receiver.requests) == 2, timeout_s=60)
    assert receiver.connections == 1


def test_silent_receiver_ends_at_the_deadline(hasty: Client, receive: StartReceiver) -> None:
    _ends_at_deadline(hasty, receive(answering(b"", pause_s=2)).url)


@pytest.mark.parametrize("interval_s", [0.2, 5])
def test_slow_handshake_ends_at_the_deadline(interval_s: float, hasty: Client) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def dribble() -> None:
            with suppress(OSError):
                conn, _ = listener.accept()
                with conn:
                    for piece in b"\x16\x03\x03\x40\x00" + b"a" * 60:
                        conn.send(bytes([piece]))
                        time.sleep(interval_s)

        threading.Thread(target=dribble, daemon=True).start()

        _ends_at_deadline(hasty, f"https://localhost:{listener.getsockname()[1]}/")


def test_receiver_that_does_not_read_ends_at_the_deadline(hasty: Client, folder: Path) -> None:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(folder / "leaf.pem")
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def sip() -> None:
            with suppress(OSError), tls.wrap_socket(listener.accept()[0], server_side=True) as conn:
                while conn.recv(1000):
                    time.sleep(0.2)

        threading.Thread(target=sip, daemon=True).start()

        _ends_at_deadline(hasty, f"https://localhost:{listener.getsockname()[1]}/", bytes(50_000_000))


@pytest.mark.parametrize("framing", [b"Content-Length: 1073741824\r\n", b"Transfer-Encoding: chunked\r\n", b""])
def test_body_of_a_gigabyte_is_cut(framing: bytes, client: Client, receive: StartReceiver) -> None:
    sent = 0

    def flood(conn: ssl.SSLSocket, number: int, body: bytes) -> bool:
        nonlocal sent
        conn.sendall(b"HTTP/1.1 200 OK\r\n" + framing + b"\r\n")
        piece = b"2000\r\n" + b"b" * 8192 + b"\r\n" if b"chunked" in framing else b"b" * 8192
        while sent < 2**30:
            conn.sendall(piece)
            sent += len(piece)
        return False

    receiver = receive(flood)

    answer = post(client, receiver.url)

    assert (answer.status, answer.excerpt) == (200, "b" * 500)
    time.sleep(0.2)
    assert sent < 2**24
