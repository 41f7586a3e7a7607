"""The exchange rate feed: its host may be slow, wrong or unreachable."""

import socket
import threading
import time
from contextlib import contextmanager

import pytest

from adapters import fx_feed
from adapters.fx_feed import FeedUnavailable


@contextmanager
def _server(*pieces, pause_s=0.0, hold=False):
    """Answer one connection with these pieces, `pause_s` apart; `hold` keeps it open afterwards."""
    listening = socket.create_server(("127.0.0.1", 0))
    requests, is_done = [], threading.Event()

    def answer():
        peer, _ = listening.accept()
        with peer:
            requests.append(peer.recv(4096).decode())
            try:
                for piece in pieces:
                    peer.sendall(piece)
                    is_done.wait(pause_s)
                if hold:
                    is_done.wait(120)
            except OSError:  # the client has disconnected
                pass

    thread = threading.Thread(target=answer, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/daily.xml", requests
    finally:
        is_done.set()
        listening.close()
        thread.join(60)


def _answer(body, status="200 OK", **headers):
    all_headers = {
        "Content-Length": str(len(body)),
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    lines = [f"HTTP/1.1 {status}", *(f"{name}: {value}" for name, value in all_headers.items())]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def test_file_is_returned_unchanged():
    with _server(_answer(b"currency,perUsd,date\n")) as (url, requests):
        assert fx_feed.fetch(url) == b"currency,perUsd,date\n"

    assert requests[0].startswith("GET /daily.xml HTTP/1.1\r\n")
    assert "identity" in requests[0]
    assert "Authorization" not in requests[0]


def test_file_without_a_length_ends_with_the_connection():
    with _server(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nfirst,", b"second", pause_s=0.05) as (url, _):
        assert fx_feed.fetch(url) == b"first,second"


def test_redirect_is_not_followed():
    elsewhere = _answer(b"", "302 Found", Location="http://127.0.0.1:1/")
    with _server(elsewhere) as (url, _), pytest.raises(FeedUnavailable, match=r"^it responded 302$"):
        fx_feed.fetch(url)


@pytest.mark.parametrize("status", ["204 No Content", "304 Not Modified", "404 Not Found", "500 Oh", "301 x"])
def test_status_other_than_200_raises(status):
    with (
        _server(_answer(b"", status)) as (url, _),
        pytest.raises(FeedUnavailable, match=f"^it responded {status[:3]}$"),
    ):
        fx_feed.fetch(url)


@pytest.mark.parametrize(
    "pieces",
    [
        (b"nonsense\r\n\r\n",),
        (b"",),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort",),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n",),
    ],
)
def test_garbage_response_raises(pieces):
    with _server(*pieces) as (url, _), pytest.raises(FeedUnavailable):
        fx_feed.fetch(url)


def test_oversized_response_raises():
    with _server(_answer(b"x" * 5_000)) as (url, _), pytest.raises(FeedUnavailable, match="longer than 4999 bytes"):
        fx_feed.fetch(url, max_bytes=4_999)
    with _server(_answer(b"x" * 5_000)) as (url, _):
        assert len(fx_feed.fetch(url, max_bytes=5_000)) == 5_000


def test_endless_response_raises():
    with (
        _server(b"HTTP/1.1 200 OK\r\n\r\n", *[b"x" * 1000] * 50) as (url, _),
        pytest.raises(FeedUnavailable, match="longer"),
    ):
        fx_feed.fetch(url, max_bytes=10_000)


@pytest.mark.parametrize(
    "pieces",
    [
        (),
        (b"HTTP/1.1 200 OK\r\n", *[b"X-More: x\r\n"] * 1200),
        (b"HTTP/1.1 200 OK\r\n\r\n", *[b"x"] * 1200),
    ],
)
def test_slow_response_ends_in_time(pieces):
    with _server(*pieces, pause_s=0.1, hold=True) as (url, _):
        started = time.monotonic()
        with pytest.raises(FeedUnavailable, match=r"no complete response|too slowly"):
            fx_feed.fetch(url, whole_call_s=0.4)
        assert time.monotonic() - started < 60  # the whole response would take two minutes


def test_unreachable_host_is_reported_without_details():
    with pytest.raises(FeedUnavailable, match=r"^the call failed: ConnectionError$"):
        fx_feed.fetch("http://127.0.0.1:1/")


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://example.com/x", "://", "example.com", ""])
def test_url_must_be_http_or_https(url):
    with pytest.raises(FeedUnavailable, match="neither https nor http"):
        fx_feed.fetch(url)
