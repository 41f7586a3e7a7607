"""Spans of requests, jobs and outgoing calls, each under the span that caused it.

The current span is the `traceparent` bound to the thread's log lines, which `models.db` writes into the jobs that are
enqueued meanwhile. Attributes are our own ids, names and numbers; never a body, an address, a header or the text of an
error. Nothing here raises, and without `configure` a span costs one comparison.
"""

from collections.abc import Mapping
from types import TracebackType
from typing import Any, Protocol, Self

from adapters import without_packages

with without_packages("rich"):  # as in `adapters.logs`, which not every process loads
    import structlog

_BOUND = "traceparent"
_NO_NAMES: Mapping[str, str] = {}
# Attributes with an OpenTelemetry name; others get a name of Finderfee.
_STANDARD_NAMES = {
    "method": "http.request.method",
    "route": "http.route",
    "status": "http.response.status_code",
    "error": "error.type",
}


class SpanExporter(Protocol):
    """Creates spans and sends them asynchronously."""

    def start(self, name: str, *, kind: str, parent: str | None, attributes: dict[str, Any]) -> Any: ...
    def traceparent(self, begun: Any) -> str: ...
    def flush(self) -> None: ...


_exporter: SpanExporter | None = None


def configure(exporter: SpanExporter | None) -> None:
    """Export this process's spans from now on; None stops it."""
    global _exporter
    _exporter = exporter


def flush() -> None:
    """Send ended spans before the process ends; gives up after a second."""
    if _exporter is not None:
        _exporter.flush()


class Span:
    """A started span. As a context manager it records the type of an exception and ends."""

    def __init__(self, span: Any, names: Mapping[str, str]) -> None:
        self._span = span
        self._before = structlog.contextvars.bind_contextvars(**names)

    def name(self, name: str) -> None:
        """Change the span's name."""
        self._span.update_name(name)

    def set_attributes(self, **attributes: str | int) -> None:
        """Set attributes."""
        self._span.set_attributes(_attribute_names(attributes))

    def end(self) -> None:
        """End the span."""
        structlog.contextvars.reset_contextvars(**self._before)
        self._span.end()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, traceback: TracebackType | None) -> None:
        if kind is not None:
            self.set_attributes(error=kind.__name__)
        self.end()


class NoSpan:
    """A span that is not exported."""

    def name(self, name: str) -> None:
        """Do nothing."""

    def set_attributes(self, **attributes: str | int) -> None:
        """Do nothing."""

    def end(self) -> None:
        """Do nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass


_NO_SPAN = NoSpan()


def request(request_id: str, method: str) -> Span | NoSpan:
    """Start the span of a request, in a new trace: callers cannot choose it."""
    if _exporter is None:
        return _NO_SPAN
    return _start(
        _exporter, method, kind="server", parent=None, attributes={"request_id": request_id, "method": method}
    )


def job(name: str, carried: object, **attributes: str | int) -> Span | NoSpan:
    """Start the span of a job attempt, under the span that its message names."""
    if _exporter is None:
        return _NO_SPAN
    parent, _, request_id = str(carried or "").partition(" ")
    names = {"request_id": request_id} if request_id else {}
    return _start(_exporter, name, kind="consumer", parent=parent, attributes={**attributes, **names}, names=names)


def call(name: str, method: str) -> Span | NoSpan:
    """Start the span of a call to another server, under this thread's current span."""
    if _exporter is None:
        return _NO_SPAN
    under = structlog.contextvars.get_contextvars().get(_BOUND)
    return _start(_exporter, name, kind="client", parent=under, attributes={"method": method})


def _start(
    exporter: SpanExporter,
    name: str,
    *,
    kind: str,
    parent: str | None,
    attributes: Mapping[str, str | int],
    names: Mapping[str, str] = _NO_NAMES,
) -> Span:
    span = exporter.start(name, kind=kind, parent=parent, attributes=_attribute_names(attributes))
    return Span(span, {**names, _BOUND: exporter.traceparent(span)})


def _attribute_names(attributes: Mapping[str, str | int]) -> dict[str, str | int]:
    return {_STANDARD_NAMES.get(name, f"finderfee.{name}"): value for name, value in attributes.items()}
