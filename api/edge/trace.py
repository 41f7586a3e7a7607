"""Tracing of requests: an id, the duration and one log line each."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import structlog

from adapters.tracing import spans
from api.edge import metrics
from models import ids

_MAX_ID_LENGTH = 64

#: The key of the WSGI environment of a request without a log line: a command's own call, whose output a person reads.
UNLOGGED = "finderfee.unlogged"

_log = structlog.get_logger("request")


@dataclass(frozen=True, slots=True)
class Trace:
    """A request that is under way: its id, and its start by the monotonic clock."""

    request_id: str
    started: float
    span: spans.Span | spans.NoSpan


def begin(environ: Mapping[str, Any]) -> Trace:
    """Start a trace with the sender's request id, or a new one, and add the id to the thread's further log lines."""
    header = environ.get("HTTP_X_REQUEST_ID", "")
    request_id = (
        header if 0 < len(header) <= _MAX_ID_LENGTH and header.isascii() and header.isprintable() else ids.new_id().hex
    )
    structlog.contextvars.clear_contextvars()
    structlog.contextvars.bind_contextvars(request_id=request_id)
    return Trace(request_id, time.monotonic(), spans.request(request_id, environ["REQUEST_METHOD"]))


def end(trace: Trace, route: str, status: int, environ: Mapping[str, Any]) -> None:
    """Count an answered request and write its log line."""
    seconds, method = time.monotonic() - trace.started, environ["REQUEST_METHOD"]
    metrics.observe_request(route, status, seconds)
    if UNLOGGED not in environ:
        _log.info("request", method=method, route=route, status=status, ms=round(seconds * 1000, 1))
    trace.span.name(f"{method} {route}")
    trace.span.set_attributes(route=route, status=status)
    trace.span.end()
