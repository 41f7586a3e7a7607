"""The HTTP server of a played source on 127.0.0.1: threads, kept connections, a log of requests, faults."""

import contextlib
import http.server
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, cast
from urllib.parse import parse_qs, urlsplit

import orjson

from commands.demo.no_delay_handler import NoDelayHandler
from commands.demo.played.faults import FaultList
from commands.demo.played.source import PlayedRequest, PlayedResponse, PlayedSource

LOOPBACK = "127.0.0.1"


@dataclass(slots=True)
class PlayedServer:
    """A running server: `url` is what SWITCH_…_BASE_URL is set to, `log` has the requests in order of arrival."""

    source: PlayedSource
    url: str
    faults: FaultList = field(default_factory=FaultList)
    log: list[PlayedRequest] = field(default_factory=list)

    def requests(self, path: str = "") -> list[PlayedRequest]:
        """Return the logged requests whose path contains a text."""
        return [request for request in list(self.log) if path in request.path]


@contextlib.contextmanager
def playing(source: PlayedSource, *, port: int = 0) -> Iterator[PlayedServer]:
    """Serve a source during the context; port 0 is a free one. Raises OSError for a used port."""
    server = _Server((LOOPBACK, port), _Handler)
    server.played = PlayedServer(source, f"http://{LOOPBACK}:{server.server_address[1]}")
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), name="played-source", daemon=True)
    thread.start()
    try:
        yield server.played
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Server(http.server.ThreadingHTTPServer):
    """Ends the connections that clients keep open when it is closed, and with them its threads."""

    daemon_threads = False
    request_queue_size = 64
    played: PlayedServer

    def __init__(self, *arguments: Any) -> None:
        self._connections: set[socket.socket] = set()
        super().__init__(*arguments)

    def get_request(self) -> tuple[socket.socket, Any]:
        """Return a new connection, noted as open."""
        connection, address = super().get_request()
        self._connections.add(connection)
        return connection, address

    def shutdown_request(self, request: Any) -> None:
        """Close a connection."""
        self._connections.discard(request)
        super().shutdown_request(request)

    def server_close(self) -> None:
        """Stop listening, end all connections, and wait for their threads."""
        for connection in list(self._connections):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        super().server_close()

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore clients that hung up."""


class _Handler(NoDelayHandler):
    protocol_version = "HTTP/1.1"
    timeout = 60

    def do_GET(self) -> None:
        """Return a page."""
        self._answer()

    def do_POST(self) -> None:
        """Refuse: a switch only reads."""
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self._answer()

    do_PUT = do_PATCH = do_DELETE = do_POST

    def _answer(self) -> None:
        played = cast(_Server, self.server).played
        parts = urlsplit(self.path)
        request = PlayedRequest(
            self.command,
            parts.path,
            parse_qs(parts.query, keep_blank_values=True),
            {name.lower(): value for name, value in self.headers.items()},
            time.monotonic(),
        )
        played.log.append(request)
        fault = played.faults.take(request)
        source = played.source
        self._send(fault.play(lambda: source.answer(request)) if fault else source.answer(request))

    def _send(self, response: PlayedResponse) -> None:
        if response.is_cut:
            self.close_connection = True
            if response.body is None:
                return
        is_raw = isinstance(response.body, bytes)
        body = response.body if is_raw else orjson.dumps(response.body, option=orjson.OPT_NON_STR_KEYS)
        headers = {"Content-Type": "application/json", "Content-Length": str(len(body)), **response.headers}
        if self.close_connection:
            headers["Connection"] = "close"
        lines = [f"HTTP/1.1 {response.status} {HTTPStatus(response.status).phrase}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        self.wfile.write("\r\n".join([*lines, "", ""]).encode("latin-1") + body)
