"""A way to the service that is unsteady once per call: busy, away, or an answer that is lost on the way back.

What the first part of the address names happens to the first request with an Idempotency-Key; later ones pass.
"""

import http.client
import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

from commands.demo.prompt_handler import PromptHandler

_PASSED_ON = ("Authorization", "Content-Type", "Idempotency-Key", "X-Service-Signature")
_REFUSED = {"busy": 429, "away": 503}


@contextmanager
def before(service_url: str) -> Iterator[str]:
    """Give the address to put `/busy`, `/away` or `/lost` behind, while it leads to the service."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Way)
    server.daemon_threads = True
    server.leads_to = urlsplit(service_url).netloc  # type: ignore[attr-defined]  # how the handler finds its way on
    server.seen = set()  # type: ignore[attr-defined]
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


class _Way(PromptHandler):
    def do_POST(self) -> None:
        """Do what the address says to the first of a key, and pass on the others."""
        raw = self.rfile.read(int(self.headers["Content-Length"]))
        what, _, path = self.path[1:].partition("/")
        key = self.headers["Idempotency-Key"]
        is_first = key not in self.server.seen
        self.server.seen.add(key)
        if is_first and what in _REFUSED:
            self._answer(_REFUSED[what], {"Retry-After": "1"}, b"")
            return
        status, headers, body = self._passed_on(f"/{path}", raw)
        if is_first and what == "lost":
            self.close_connection = True  # the service has done it, and nobody is told
            return
        self._answer(status, headers, body)

    def _passed_on(self, path: str, raw: bytes) -> tuple[int, dict[str, str], bytes]:
        connection = http.client.HTTPConnection(self.server.leads_to, timeout=30)
        connection.request("POST", path, raw, {name: self.headers[name] for name in _PASSED_ON if name in self.headers})
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer.status, {"Content-Type": answer.headers["Content-Type"] or "text/plain"}, body

    def _answer(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
