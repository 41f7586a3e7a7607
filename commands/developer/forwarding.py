"""A webhook receiver on this machine that verifies deliveries and forwards them to a developer's own server."""

import http.client
import http.server
import socket
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from commands.demo.no_delay_handler import NoDelayHandler
from commands.demo.receiver import LARGEST_BODY, is_genuine

# The service gives up after ten seconds; a developer's server that has not responded by then counts as silent.
_TIMEOUT_S = 9
_MAX_RESPONSE_BYTES = 65_536
_FORWARDED_HEADERS = ("content-type", "user-agent", "x-service-")
_RETURNED_HEADERS = ("Content-Type", "Retry-After")


@dataclass(frozen=True, slots=True)
class ReceivedDelivery:
    """A received delivery and the response to it. `note` is why the developer's server did not respond."""

    delivery_id: str
    type: str
    body: bytes
    status: int
    took_ms: int
    note: str | None = None


@dataclass(frozen=True, slots=True)
class _Response:
    status: int
    headers: Mapping[str, str]
    body: bytes
    note: str | None = None


class Receiver:
    """Listens on a loopback port from its creation. `on_delivery` is called for each delivery, in separate threads."""

    def __init__(self, *, port: int, forward_to: str | None, on_delivery: Callable[[ReceivedDelivery], None]) -> None:
        self.secret = b""
        self._forward_to = urlsplit(forward_to) if forward_to else None
        self._on_delivery = on_delivery
        self._expected: dict[str, threading.Event] = {}
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", port), self._handler())
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.1,), daemon=True).start()

    @property
    def url(self) -> str:
        """The URL to subscribe."""
        return f"http://127.0.0.1:{self._server.server_port}/"

    def expect(self, delivery_id: str) -> threading.Event:
        """Return an event set when this delivery arrives; it gets status 200, and is neither reported nor forwarded."""
        return self._expected.setdefault(delivery_id, threading.Event())

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()

    def _handler(self) -> type[NoDelayHandler]:
        receiver = self

        class Handler(NoDelayHandler):
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

    def _answer(self, headers: Mapping[str, str], body: bytes) -> _Response:
        delivery_id, started = headers.get("x-service-delivery-id", ""), time.monotonic()
        if not is_genuine(headers.get("x-service-signature", ""), body, secret=self.secret):
            answer = _Response(401, {}, b"", "refused: the signature is wrong")
        elif delivery_id in self._expected:
            self._expected[delivery_id].set()
            return _Response(200, {}, b"")
        elif self._forward_to is None:
            answer = _Response(200, {}, b"")
        else:
            answer = _forward(self._forward_to, headers, body)
        took_ms = int((time.monotonic() - started) * 1000)
        self._on_delivery(
            ReceivedDelivery(delivery_id, headers.get("x-service-event", ""), body, answer.status, took_ms, answer.note)
        )
        return answer


def _forward(to: SplitResult, headers: Mapping[str, str], body: bytes) -> _Response:
    """POST to the developer's server, with the same body and signature; 502 if it does not respond."""
    kind = http.client.HTTPSConnection if to.scheme == "https" else http.client.HTTPConnection
    connection = kind(to.hostname or "", to.port, timeout=_TIMEOUT_S)
    path = (to.path or "/") + (f"?{to.query}" if to.query else "")
    try:
        connection.request("POST", path, body, {n: v for n, v in headers.items() if n.startswith(_FORWARDED_HEADERS)})
        response = connection.getresponse()
        back = {name: value for name in _RETURNED_HEADERS if (value := response.headers.get(name)) is not None}
        return _Response(response.status, back, response.read(_MAX_RESPONSE_BYTES))
    except (OSError, http.client.HTTPException) as error:
        return _Response(502, {}, b"", _describe_error(error))
    finally:
        connection.close()


def _describe_error(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return f"no response within {_TIMEOUT_S} s"
    if isinstance(error, ConnectionRefusedError):
        return "connection refused: is your server running?"
    if isinstance(error, socket.gaierror):
        return "the host name does not resolve"
    return str(error) or type(error).__name__
