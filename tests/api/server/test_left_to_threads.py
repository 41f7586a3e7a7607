"""What the loop does not even parse, since everybody would wait for that."""

import pytest

from adapters import servers
from api.clicks.express import Express
from api.server.asked import AtOnceRequests
from api.server.at_once import AtOnce
from api.server.connection import Connection
from tests.support.rows.visiting import CLICK

_HEAD = f"POST {CLICK} HTTP/1.1\r\nHost: shop.test\r\n"


class _Parsed(Exception):
    """The loop has put a request together."""


class _Client(Connection):
    """A connection that says when its request is parsed, and has no socket."""

    def __init__(self) -> None:
        self.is_parsed = False

    def parsed(self):
        self.is_parsed = True
        raise _Parsed

    def rewind(self):
        """Be asked to begin again."""


@pytest.fixture
def loop(app):
    requests = AtOnceRequests(servers.urls().redis_url, Express.begins, Express.most_bytes, lambda *_: None)
    loop = AtOnce(None, requests)
    loop._wire = object()  # open, and asked nothing by what is left to threads
    return loop


@pytest.mark.parametrize(
    ("more", "length", "is_chunked", "is_looked_at"),
    [
        ("", 40, False, True),
        ("", Express.most_bytes, False, False),
        (f"X-Long: {'x' * Express.most_bytes}\r\n", 40, False, False),
        ("Transfer-Encoding: chunked\r\n", 40, True, False),
    ],
    ids=["usual", "large body", "large head", "chunks"],
)
def test_a_click_that_is_large_or_in_chunks_is_a_threads_as_it_came(loop, more, length, is_chunked, is_looked_at):
    client = _Client()

    assert not loop.takes(client, f"{_HEAD}{more}\r\n".encode() + b"x" * length, b"", is_chunked=is_chunked)

    assert client.is_parsed == is_looked_at
