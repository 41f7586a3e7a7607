"""A customer's server for the tests: real HTTPS on this machine, scriptable, keeps everything it is sent."""

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
from commands.demo.prompt_handler import PromptHandler

Script = Callable[["Handler"], None]


def write_certificate(folder: Path) -> Path:
    """Make a certificate for localhost in `folder` and return the bundle that trusts it."""
    return write_bundle(folder)


@dataclass(frozen=True, slots=True)
class Received:
    """One request as it arrived."""

    path: str
    headers: dict[str, str]
    body: bytes
    at: float

    @property
    def event(self) -> dict[str, Any]:
        """The envelope."""
        parsed: dict[str, Any] = json.loads(self.body)
        return parsed


class Receiver:
    """Answers 200 until told otherwise by `answers` (one script per request, the last repeats)."""

    def __init__(self, folder: Path) -> None:
        self.received: list[Received] = []
        self.answers: list[Script] = []
        self._turn = threading.Lock()
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._server.owner = self  # type: ignore[attr-defined]  # how the handler finds its way back
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def url(self) -> str:
        """The address to subscribe."""
        return f"https://localhost:{self._server.server_port}/hook"

    @property
    def events(self) -> list[dict[str, Any]]:
        """The envelopes that arrived, in order."""
        return [received.event for received in self.received]

    def of_type(self, event_type: str) -> list[dict[str, Any]]:
        """The `data` of every event of a type, in order of arrival."""
        return [event["data"] for event in self.events if event["type"] == event_type]

    def next_answer(self) -> Script:
        """Return the script of the request that has come, and keep the last for those to come."""
        with self._turn:
            return self.answers.pop(0) if len(self.answers) > 1 else (self.answers or [status(200)])[0]

    def stop(self) -> None:
        """Close the server."""
        self._server.shutdown()
        self._server.server_close()


class Handler(PromptHandler):
    """Keeps the request and answers as the script says."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        owner: Receiver = self.server.owner  # type: ignore[attr-defined]  # set by Receiver
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        owner.received.append(Received(self.path, headers, body, time.time()))
        owner.next_answer()(self)


def status(code: int, body: bytes = b"ok", **headers: str) -> Script:
    """Answer with a status, a body and headers (underscores become hyphens)."""

    def answer(handler: Handler) -> None:
        handler.send_response(code)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    return answer


def hang(seconds: float) -> Script:
    """Say nothing for a while, then close."""

    def answer(handler: Handler) -> None:
        time.sleep(seconds)
        handler.close_connection = True

    return answer
