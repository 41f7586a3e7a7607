"""A collector of trace spans, as OpenTelemetry's: OTLP over HTTP with protobuf. It can refuse, or not respond."""

import gzip
import threading
from http.server import ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from commands.demo.no_delay_handler import NoDelayHandler


class Collector:
    """Records the received `spans` as protobuf messages, and responds with `status`; None: not until `close`."""

    def __init__(self) -> None:
        self.spans: list[Any] = []
        self.services: set[str] = set()
        self.request_arrived = threading.Event()
        self.status: int | None = 200
        self._is_closed = threading.Event()
        collector = self

        class Handler(NoDelayHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.headers.get("Content-Encoding") == "gzip":
                    body = gzip.decompress(body)
                collector.receive(self.path, body)
                if collector.status is None:
                    collector._is_closed.wait(30)
                    return
                self.send_response(collector.status)
                self.send_header("Content-Length", "0")
                self.end_headers()

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def receive(self, path: str, body: bytes) -> None:
        """Record the spans of a request."""
        assert path == "/v1/traces"
        self.request_arrived.set()
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            self.services |= {
                attribute.value.string_value
                for attribute in resource.resource.attributes
                if attribute.key == "service.name"
            }
            self.spans += [span for scope in resource.scope_spans for span in scope.spans]

    def close(self) -> None:
        """Stop the server, also for clients that wait."""
        self._is_closed.set()
        self._server.shutdown()
        self._server.server_close()


def attributes(span: Any) -> dict[str, str | int]:
    """Return a span's attributes by name."""
    return {attribute.key: attribute.value.string_value or attribute.value.int_value for attribute in span.attributes}
