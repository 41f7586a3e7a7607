"""A proxy of the service that fails once per call: too many requests, unavailable, or a lost response.

The first path segment names the fault of the first request with an Idempotency-Key; later requests are forwarded.
"""

import http.client
import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

from commands.demo.no_delay_handler import NoDelayHandler

_FORWARDED_HEADERS = ("Authorization", "Content-Type", "Idempotency-Key", "X-Service-Signature")
_STATUS_BY_FAULT = {"busy": 429, "away": 503}


@contextmanager
def run(service_url: str) -> Iterator[str]:
    """Run the proxy of a service; yield its address, to which `/busy`, `/away` or `/lost` is appended."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    server.service = urlsplit(service_url).netloc  # type: ignore[attr-defined]  # for the handler
    server.seen_keys = set()  # type: ignore[attr-defined]
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


class _Handler(NoDelayHandler):
    def do_POST(self) -> None:
        """Fail the first request with a key as its path says, and forward the others."""
        raw = self.rfile.read(int(self.headers["Content-Length"]))
        fault, _, path = self.path[1:].partition("/")
        key = self.headers["Idempotency-Key"]
        is_first = key not in self.server.seen_keys
        self.server.seen_keys.add(key)
        if is_first and fault in _STATUS_BY_FAULT:
            self._respond(_STATUS_BY_FAULT[fault], {"Retry-After": "1"}, b"")
            return
        status, headers, body = self._forward(f"/{path}", raw)
        if is_first and fault == "lost":
            self.close_connection = True  # the service has processed the request, but the client gets no response
            return
        self._respond(status, headers, body)

    def _forward(self, path: str, raw: bytes) -> tuple[int, dict[str, str], bytes]:
        connection = http.client.HTTPConnection(self.server.service, timeout=30)
        connection.request(
            "POST", path, raw, {name: self.headers[name] for name in _FORWARDED_HEADERS if name in self.headers}
        )
        response = connection.getresponse()
        body = response.read()
        connection.close()
        return response.status, {"Content-Type": response.headers["Content-Type"] or "text/plain"}, body

    def _respond(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
