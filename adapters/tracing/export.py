"""Spans leave by OTLP over HTTP, from a thread of their own: a receiver that is slow or away costs spans, never time.

Everything of OpenTelemetry begins with a process's first span, which is after every fork of ours; who inherits it all
the same begins anew.
"""

import importlib.util
import os
import threading
from typing import Any

import structlog

from adapters.tracing import spans
from settings.concerns.monitoring import Monitoring

_log = structlog.get_logger(__name__)

# What the receiver may take for a batch, and what a process that ends waits for it.
_EXPORT_S = 5
_LAST_WORD_S = 1


def configure(chosen: Monitoring) -> None:
    """Send spans where the settings say, if they say so and OpenTelemetry is installed."""
    if chosen.traces_url is None:
        return
    if importlib.util.find_spec("opentelemetry.exporter") is None:
        _log.warning("traces.not_installed", next="install requirements/extras.txt")
        return
    spans.configure(Otlp(chosen.traces_url))


class Otlp:
    """Sends to the receiver at `url`. What else the SDK reads from OTEL_… variables it reads itself."""

    def __init__(self, url: str) -> None:
        self._url = f"{url.rstrip('/')}/v1/traces"
        self._making = threading.Lock()
        self._made: tuple[int, Any, Any] | None = None

    def start(self, name: str, *, kind: str, parent: str | None, attributes: dict[str, Any]) -> Any:
        """Begin a span, under another or in a trace of its own."""
        from opentelemetry import trace
        from opentelemetry.context import Context

        above = trace.set_span_in_context(_remembered(parent), Context()) if parent else Context()
        return self._tracer().start_span(name, context=above, kind=trace.SpanKind[kind.upper()], attributes=attributes)

    def named(self, begun: Any) -> str:
        """Return how a span is called, as the W3C's `traceparent`."""
        found = begun.get_span_context()
        return f"00-{found.trace_id:032x}-{found.span_id:016x}-{found.trace_flags:02x}"

    def flush(self) -> None:
        """Send what has ended, for a second at most, and stop."""
        made, self._made = self._made, None
        if made is not None and made[0] == os.getpid():
            last = threading.Thread(target=made[1].shutdown, daemon=True)
            last.start()
            last.join(_LAST_WORD_S)

    def _tracer(self) -> Any:
        made = self._made
        if made is None or made[0] != os.getpid():
            with self._making:
                made = self._made
                if made is None or made[0] != os.getpid():
                    made = self._made = self._make()
        return made[2]

    def _make(self) -> tuple[int, Any, Any]:
        import atexit

        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor

        named = {} if "OTEL_SERVICE_NAME" in os.environ else {"service.name": "finderfee"}
        provider = TracerProvider(resource=Resource.create(named), shutdown_on_exit=False)
        provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=self._url, timeout=_EXPORT_S)))
        atexit.register(self.flush)
        return os.getpid(), provider, provider.get_tracer("finderfee")


def _remembered(text: str) -> Any:
    from opentelemetry import trace

    try:
        _, trace_id, span_id, flags = text.split("-")
        known = trace.SpanContext(
            int(trace_id, 16), int(span_id, 16), is_remote=True, trace_flags=trace.TraceFlags(int(flags, 16))
        )
    except ValueError:
        return trace.INVALID_SPAN
    return trace.NonRecordingSpan(known)
