"""A webhook receiver on this machine that verifies what it is sent and hands it on to a developer's own server."""

import http.client
import http.server
import socket
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from commands.demo.prompt_handler import PromptHandler
from commands.demo.receiver import LARGEST_BODY, is_genuine

# The service gives up after ten seconds; what the developer's server does not answer by then is told as silence.
_PATIENCE_S = 9
_MOST_BACK = 65_536
_ONWARD = ("content-type", "user-agent", "x-service-")
_BACK = ("Content-Type", "Retry-After")


@dataclass(frozen=True, slots=True)
class Heard:
    """A delivery that came in, and what was answered. `note` says why there was no answer of the developer's server."""

    delivery_id: str
    type: str
    body: bytes
    status: int
    took_ms: int
    note: str | None = None


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes
    note: str | None = None


class Receiver:
    """Listens on a loopback port from when it is made. `tell` is called for each delivery, in threads of its own."""

    def __init__(self, *, port: int, forward_to: str | None, tell: Callable[[Heard], None]) -> None:
        self.secret = b""
        self._forward_to = urlsplit(forward_to) if forward_to else None
        self._tell = tell
        self._expected: dict[str, threading.Event] = {}
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", port), self._handler())
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.1,), daemon=True).start()

    @property
    def url(self) -> str:
        """The address to subscribe."""
        return f"http://127.0.0.1:{self._server.server_port}/"

    def expect(self, delivery_id: str) -> threading.Event:
        """Return what is set when this delivery has come; it is answered 200, and neither told nor handed on."""
        return self._expected.setdefault(delivery_id, threading.Event())

    def close(self) -> None:
        """Listen no more."""
        self._server.shutdown()
        self._server.server_close()

    def _handler(self) -> type[PromptHandler]:
        receiver = self

        class Handler(PromptHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                body = self.rfile.read(length) if length <= LARGEST_BODY else b""
                answer = receiver._answer({name.lower(): value for name, value in self.headers.items()}, body)
                self.send_response(answer.status)
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(answer.body)))
                self.end_headers()
                self.wfile.write(answer.body)

        return Handler

    def _answer(self, headers: Mapping[str, str], body: bytes) -> _Answer:
        delivery_id, started = headers.get("x-service-delivery-id", ""), time.monotonic()
        if not is_genuine(headers.get("x-service-signature", ""), body, secret=self.secret):
            answer = _Answer(401, {}, b"", "refused: the signature is wrong")
        elif delivery_id in self._expected:
            self._expected[delivery_id].set()
            return _Answer(200, {}, b"")
        elif self._forward_to is None:
            answer = _Answer(200, {}, b"")
        else:
            answer = _forward(self._forward_to, headers, body)
        took_ms = int((time.monotonic() - started) * 1000)
        self._tell(Heard(delivery_id, headers.get("x-service-event", ""), body, answer.status, took_ms, answer.note))
        return answer


def _forward(to: SplitResult, headers: Mapping[str, str], body: bytes) -> _Answer:
    """POST to the developer's server, with the same body and signature; 502 where it does not answer."""
    kind = http.client.HTTPSConnection if to.scheme == "https" else http.client.HTTPConnection
    connection = kind(to.hostname or "", to.port, timeout=_PATIENCE_S)
    path = (to.path or "/") + (f"?{to.query}" if to.query else "")
    try:
        connection.request("POST", path, body, {n: v for n, v in headers.items() if n.startswith(_ONWARD)})
        response = connection.getresponse()
        back = {name: value for name in _BACK if (value := response.headers.get(name)) is not None}
        return _Answer(response.status, back, response.read(_MOST_BACK))
    except (OSError, http.client.HTTPException) as error:
        return _Answer(502, {}, b"", _why(error))
    finally:
        connection.close()


def _why(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return f"no answer within {_PATIENCE_S} s"
    if isinstance(error, ConnectionRefusedError):
        return "connection refused: does your server run?"
    if isinstance(error, socket.gaierror):
        return "the host name does not resolve"
    return str(error) or type(error).__name__
