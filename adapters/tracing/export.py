"""Sends spans by OTLP over HTTP from a separate thread: a slow or unavailable receiver loses spans, but costs no time.

OpenTelemetry is set up at a process's first span, which is after our forks; a process that inherits it by a fork sets
it up again.
"""

import importlib.util
import os
import threading
from typing import Any

import structlog

from adapters.tracing import spans
from settings.concerns.monitoring import Monitoring

_log = structlog.get_logger(__name__)

# Time limits of a batch, and of the last batch of a process that ends.
_EXPORT_S = 5
_FLUSH_S = 1


def configure(config: Monitoring) -> None:
    """Send spans to TRACES_URL if it is set and OpenTelemetry is installed."""
    if config.traces_url is None:
        return
    if importlib.util.find_spec("opentelemetry.exporter") is None:
        _log.warning("traces.not_installed", next="install requirements/extras.txt")
        return
    spans.configure(Otlp(config.traces_url))


class Otlp:
    """Sends to the receiver at `url`. The SDK reads OTEL_… variables itself."""

    def __init__(self, url: str) -> None:
        self._url = f"{url.rstrip('/')}/v1/traces"
        self._setup_lock = threading.Lock()
        self._provider: tuple[int, Any, Any] | None = None

    def start(self, name: str, *, kind: str, parent: str | None, attributes: dict[str, Any]) -> Any:
        """Start a span, under a parent or in a new trace."""
        from opentelemetry import trace
        from opentelemetry.context import Context

        above = trace.set_span_in_context(_parse_parent(parent), Context()) if parent else Context()
        return self._tracer().start_span(name, context=above, kind=trace.SpanKind[kind.upper()], attributes=attributes)

    def traceparent(self, span: Any) -> str:
        """Return a span's identifier as a W3C `traceparent`."""
        context = span.get_span_context()
        return f"00-{context.trace_id:032x}-{context.span_id:016x}-{context.trace_flags:02x}"

    def flush(self) -> None:
        """Send ended spans, for at most a second, and stop."""
        provider, self._provider = self._provider, None
        if provider is not None and provider[0] == os.getpid():
            last = threading.Thread(target=provider[1].shutdown, daemon=True)
            last.start()
            last.join(_FLUSH_S)

    def _tracer(self) -> Any:
        provider = self._provider
        if provider is None or provider[0] != os.getpid():
            with self._setup_lock:
                provider = self._provider
                if provider is None or provider[0] != os.getpid():
                    provider = self._provider = self._create_provider()
        return provider[2]

    def _create_provider(self) -> tuple[int, Any, Any]:
        import atexit

        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor

        attributes = {} if "OTEL_SERVICE_NAME" in os.environ else {"service.name": "finderfee"}
        provider = TracerProvider(resource=Resource.create(attributes), shutdown_on_exit=False)
        provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=self._url, timeout=_EXPORT_S)))
        atexit.register(self.flush)
        return os.getpid(), provider, provider.get_tracer("finderfee")


def _parse_parent(text: str) -> Any:
    from opentelemetry import trace

    try:
        _, trace_id, span_id, flags = text.split("-")
        context = trace.SpanContext(
            int(trace_id, 16), int(span_id, 16), is_remote=True, trace_flags=trace.TraceFlags(int(flags, 16))
        )
    except ValueError:
        return trace.INVALID_SPAN
    return trace.NonRecordingSpan(context)
