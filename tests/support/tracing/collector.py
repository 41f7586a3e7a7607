"""A receiver of spans as OpenTelemetry's own is: OTLP over HTTP with protobuf; it can refuse, or answer nothing."""

import gzip
import threading
from http.server import ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from commands.demo.prompt_handler import PromptHandler


class Collector:
    """`spans` are those that came, in protobuf's shape; `status` is what it answers, None nothing until `close`."""

    def __init__(self) -> None:
        self.spans: list[Any] = []
        self.services: set[str] = set()
        self.request_arrived = threading.Event()
        self.status: int | None = 200
        self._over = threading.Event()
        collector = self

        class Handler(PromptHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.headers.get("Content-Encoding") == "gzip":
                    body = gzip.decompress(body)
                collector.take(self.path, body)
                if collector.status is None:
                    collector._over.wait(30)
                    return
                self.send_response(collector.status)
                self.send_header("Content-Length", "0")
                self.end_headers()

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def take(self, path: str, body: bytes) -> None:
        """Keep what came in one request."""
        assert path == "/v1/traces"
        self.request_arrived.set()
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            self.services |= {
                each.value.string_value for each in resource.resource.attributes if each.key == "service.name"
            }
            self.spans += [span for scope in resource.scope_spans for span in scope.spans]

    def close(self) -> None:
        """Stop, and let go of who waits."""
        self._over.set()
        self._server.shutdown()
        self._server.server_close()


def attributes(span: Any) -> dict[str, str | int]:
    """Return a span's attributes by name."""
    return {each.key: each.value.string_value or each.value.int_value for each in span.attributes}
