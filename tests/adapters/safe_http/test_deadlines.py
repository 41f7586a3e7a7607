"""A call ends in time however a receiver stalls; real sockets, real TLS."""

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
from tests.support.outside.raw_receivers import OK, StartReceiver, answer_with, dribble, post


def test_hanging_dns_ends_at_the_deadline(impatient_client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: time.sleep(3))

    _assert_ends_at_deadline(impatient_client, "https://hook.test/")


def _assert_ends_at_deadline(client: Client, url: str, body: bytes = b"{}") -> None:
    started = time.monotonic()
    with pytest.raises(ReceiverUnreachable, match="no complete response within 1 s"):
        post(client, url, body)
    assert (
        0.9 < time.monotonic() - started < 10
    )  # generous for a busy machine; without a deadline the call would not end


@pytest.mark.parametrize(
    "head",
    [b"H", b"HTTP/1.1 200 OK\r\nX-A: ", b"HTTP/1.1 200 OK\r\nContent-Length: 60\r\n\r\n", b"HTTP/1.1 200 OK\r\n\r\n"],
)
def test_slow_response_ends_at_the_deadline(head: bytes, impatient_client: Client, receive: StartReceiver) -> None:
    _assert_ends_at_deadline(impatient_client, receive(dribble(head)).url)


def test_slow_body_on_a_reused_connection_ends_at_the_deadline(
    client: Client, shorten_timeout: Callable[[], None], receive: StartReceiver
) -> None:
    def script(conn: ssl.SSLSocket, number: int, body: bytes) -> bool:
        first = answer_with(OK)
        return (first if number == 1 else dribble(b"HTTP/1.1 200 OK\r\n\r\n"))(conn, number, body)

    receiver = receive(script)
    post(client, receiver.url)
    shorten_timeout()

    _assert_ends_at_deadline(client, receiver.url)
    assert wait_until(lambda: len(receiver.requests) == 2, timeout_s=60)
    assert receiver.connections == 1


def test_silent_receiver_ends_at_the_deadline(impatient_client: Client, receive: StartReceiver) -> None:
    _assert_ends_at_deadline(impatient_client, receive(answer_with(b"", pause_s=2)).url)


@pytest.mark.parametrize("interval_s", [0.2, 5])
def test_slow_handshake_ends_at_the_deadline(interval_s: float, impatient_client: Client) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def dribble() -> None:
            with suppress(OSError):
                conn, _ = listener.accept()
                with conn:
                    for piece in b"\x16\x03\x03\x40\x00" + b"a" * 60:
                        conn.send(bytes([piece]))
                        time.sleep(interval_s)

        threading.Thread(target=dribble, daemon=True).start()

        _assert_ends_at_deadline(impatient_client, f"https://localhost:{listener.getsockname()[1]}/")


def test_non_reading_receiver_ends_at_the_deadline(impatient_client: Client, tls_dir: Path) -> None:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(tls_dir / "leaf.pem")
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def sip() -> None:
            with suppress(OSError), tls.wrap_socket(listener.accept()[0], server_side=True) as conn:
                while conn.recv(1000):
                    time.sleep(0.2)

        threading.Thread(target=sip, daemon=True).start()

        _assert_ends_at_deadline(impatient_client, f"https://localhost:{listener.getsockname()[1]}/", bytes(50_000_000))


@pytest.mark.parametrize("framing", [b"Content-Length: 1073741824\r\n", b"Transfer-Encoding: chunked\r\n", b""])
def test_gigabyte_response_is_truncated(framing: bytes, client: Client, receive: StartReceiver) -> None:
    sent_bytes = 0

    def flood(conn: ssl.SSLSocket, number: int, body: bytes) -> bool:
        nonlocal sent_bytes
        conn.sendall(b"HTTP/1.1 200 OK\r\n" + framing + b"\r\n")
        piece = b"2000\r\n" + b"b" * 8192 + b"\r\n" if b"chunked" in framing else b"b" * 8192
        while sent_bytes < 2**30:
            conn.sendall(piece)
            sent_bytes += len(piece)
        return False

    receiver = receive(flood)

    answer = post(client, receiver.url)

    assert (answer.status, answer.excerpt) == (200, "b" * 500)
    time.sleep(0.2)
    assert sent_bytes < 2**24
