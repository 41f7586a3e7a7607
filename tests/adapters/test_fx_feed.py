"""The feed of rates: a host that was chosen, and that may still be slow, wrong or gone."""

import socket
import threading
import time
from contextlib import contextmanager

import pytest

from adapters import fx_feed
from adapters.fx_feed import FeedAway


@contextmanager
def _server(*pieces, pause_s=0.0, hold=False):
    """Answer one connection with these bytes, a pause between two of them; `hold` keeps it open afterwards."""
    listening = socket.create_server(("127.0.0.1", 0))
    asked, done = [], threading.Event()

    def answer():
        peer, _ = listening.accept()
        with peer:
            asked.append(peer.recv(4096).decode())
            try:
                for piece in pieces:
                    peer.sendall(piece)
                    done.wait(pause_s)
                if hold:
                    done.wait(120)
            except OSError:  # who asked has left
                pass

    thread = threading.Thread(target=answer, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/daily.xml", asked
    finally:
        done.set()
        listening.close()
        thread.join(60)


def _answer(body, status="200 OK", **headers):
    named = {"Content-Length": str(len(body)), **{name.replace("_", "-"): value for name, value in headers.items()}}
    lines = [f"HTTP/1.1 {status}", *(f"{name}: {value}" for name, value in named.items())]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def test_the_file_comes_as_it_is():
    with _server(_answer(b"currency,perUsd,date\n")) as (url, asked):
        assert fx_feed.fetch(url) == b"currency,perUsd,date\n"

    assert asked[0].startswith("GET /daily.xml HTTP/1.1\r\n")
    assert "identity" in asked[0]
    assert "Authorization" not in asked[0]


def test_a_file_without_a_length_ends_with_its_connection():
    with _server(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nfirst,", b"second", pause_s=0.05) as (url, _):
        assert fx_feed.fetch(url) == b"first,second"


def test_a_redirect_is_not_followed():
    elsewhere = _answer(b"", "302 Found", Location="http://127.0.0.1:1/")
    with _server(elsewhere) as (url, _), pytest.raises(FeedAway, match=r"^it responded 302$"):
        fx_feed.fetch(url)


@pytest.mark.parametrize("status", ["204 No Content", "304 Not Modified", "404 Not Found", "500 Oh", "301 x"])
def test_anything_but_200_is_no_file(status):
    with _server(_answer(b"", status)) as (url, _), pytest.raises(FeedAway, match=f"^it responded {status[:3]}$"):
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
def test_garbage_is_no_file(pieces):
    with _server(*pieces) as (url, _), pytest.raises(FeedAway):
        fx_feed.fetch(url)


def test_a_huge_answer_is_cut_off():
    with _server(_answer(b"x" * 5_000)) as (url, _), pytest.raises(FeedAway, match="longer than 4999 bytes"):
        fx_feed.fetch(url, max_bytes=4_999)
    with _server(_answer(b"x" * 5_000)) as (url, _):
        assert len(fx_feed.fetch(url, max_bytes=5_000)) == 5_000


def test_an_answer_without_end_is_cut_off():
    with _server(b"HTTP/1.1 200 OK\r\n\r\n", *[b"x" * 1000] * 50) as (url, _), pytest.raises(FeedAway, match="longer"):
        fx_feed.fetch(url, max_bytes=10_000)


@pytest.mark.parametrize(
    "pieces",
    [
        (),
        (b"HTTP/1.1 200 OK\r\n", *[b"X-More: x\r\n"] * 1200),
        (b"HTTP/1.1 200 OK\r\n\r\n", *[b"x"] * 1200),
    ],
)
def test_a_slow_answer_ends_in_time(pieces):
    with _server(*pieces, pause_s=0.1, hold=True) as (url, _):
        began = time.monotonic()
        with pytest.raises(FeedAway, match=r"no complete response|too slowly"):
            fx_feed.fetch(url, whole_call_s=0.4)
        assert time.monotonic() - began < 60  # and the whole of it would take two minutes


def test_nobody_there_is_said_without_their_words():
    with pytest.raises(FeedAway, match=r"^the call failed: ConnectionError$"):
        fx_feed.fetch("http://127.0.0.1:1/")


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://example.com/x", "://", "example.com", ""])
def test_only_the_web_is_asked(url):
    with pytest.raises(FeedAway, match="neither https nor http"):
        fx_feed.fetch(url)
