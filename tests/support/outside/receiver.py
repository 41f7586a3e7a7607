"""A customer's webhook receiver: a real HTTPS server with scripted responses that records its requests."""

import http.server
import json
import ssl
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from commands.demo.certificate import write_bundle
from commands.demo.no_delay_handler import NoDelayHandler

Script = Callable[["Handler"], None]


def write_certificate(folder: Path) -> Path:
    """Write a certificate for localhost into `folder` and return the path of the bundle that trusts it."""
    return write_bundle(folder)


@dataclass(frozen=True, slots=True)
class Received:
    """A request as it arrived."""

    path: str
    headers: dict[str, str]
    body: bytes
    at: float

    @property
    def event(self) -> dict[str, Any]:
        """The body as a parsed event."""
        parsed: dict[str, Any] = json.loads(self.body)
        return parsed


class Receiver:
    """Responds 200, or as `answers` say: one script per request, the last one repeats."""

    def __init__(self, folder: Path) -> None:
        self.received: list[Received] = []
        self.answers: list[Script] = []
        self._lock = threading.Lock()
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._server.owner = self  # type: ignore[attr-defined]  # for the handler
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def url(self) -> str:
        """The URL to subscribe."""
        return f"https://localhost:{self._server.server_port}/hook"

    @property
    def events(self) -> list[dict[str, Any]]:
        """The received events, in order."""
        return [received.event for received in self.received]

    def of_type(self, event_type: str) -> list[dict[str, Any]]:
        """Return the `data` of every received event of a type, in order."""
        return [event["data"] for event in self.events if event["type"] == event_type]

    def next_answer(self) -> Script:
        """Return the script for the next request; the last script stays."""
        with self._lock:
            return self.answers.pop(0) if len(self.answers) > 1 else (self.answers or [status(200)])[0]

    def stop(self) -> None:
        """Close the server."""
        self._server.shutdown()
        self._server.server_close()


class Handler(NoDelayHandler):
    """Records a request and responds with the next script."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        owner: Receiver = self.server.owner  # type: ignore[attr-defined]  # set by Receiver
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        owner.received.append(Received(self.path, headers, body, time.time()))
        owner.next_answer()(self)


def status(code: int, body: bytes = b"ok", **headers: str) -> Script:
    """Return a script that responds with a status, a body and headers (underscores become hyphens)."""

    def answer(handler: Handler) -> None:
        handler.send_response(code)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    return answer


def hang(seconds: float) -> Script:
    """Return a script that sends nothing for a while, then closes the connection."""

    def answer(handler: Handler) -> None:
        time.sleep(seconds)
        handler.close_connection = True

    return answer
