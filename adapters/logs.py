"""Structured logs: one line per event, with its request or job, and without secrets.

Each call chooses its fields: ids, codes, counts and durations, never bodies, headers, addresses of customers, keys or
signatures.
"""

import json
import logging
import re
import sys
import threading
import types
from collections.abc import Iterable

import orjson

from adapters import without_packages
from settings.concerns.monitoring import Monitoring

with without_packages(
    "rich"
):  # not needed: tracebacks are plain text; with pygments it takes three megabytes per process
    import structlog

# DETAIL contains the row, LINE the statement with its values. A value may have several lines, so everything up to the
# end of that exception's text is removed.
_QUOTES_A_ROW = re.compile(
    r"(^|(?<=[ (]))(DETAIL|CONTEXT|QUERY|LINE \d+):.*?(?=^\n(?:The above exception was|During handling of)|\Z)",
    re.M | re.S,
)

# The context variables of log lines.
_CONTEXT_VARIABLES = ("request_id", "traceparent", "job_id", "job", "attempt")

_QUOTES_A_VALUE = re.compile(r"(invalid input (?:syntax|value) for [\w ]+:) .*")


def configure(config: Monitoring) -> None:
    """Send our log lines and libraries' warnings to standard error in the chosen format; call before threads start."""
    create_context_variables()
    level = getattr(logging, config.log_level.upper())
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
        _strip_row_values,
    ]
    as_json = config.log_format == "json"
    render = structlog.processors.JSONRenderer(_dumps) if as_json else structlog.dev.ConsoleRenderer()
    structlog.configure(
        processors=[*shared, render],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.WriteLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[structlog.stdlib.add_logger_name, *shared],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, render],
        )
    )
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)


def report_old_settings(warnings: Iterable[str]) -> None:
    """Report variables with old names: as sentences on a terminal, else as log lines."""
    for warning in warnings:
        if sys.stderr.isatty():
            sys.stderr.write(f"finderfee: {warning}\n")
        else:
            structlog.get_logger(__name__).warning("setting.old_name", warning=warning)


def create_context_variables() -> None:
    """Create all context variables.

    structlog creates each at its first use: two threads that use it first at the same time would each create one, and
    one of them could not reset it.
    """
    structlog.contextvars.reset_contextvars(
        **structlog.contextvars.bind_contextvars(**dict.fromkeys(_CONTEXT_VARIABLES))
    )


def log_uncaught_errors() -> None:
    """Log uncaught exceptions of all threads, and warnings, in place of Python's own output.

    For processes whose output is read by a machine; commands print tracebacks as they are.
    """
    logging.captureWarnings(True)
    sys.excepthook = _log_uncaught
    threading.excepthook = lambda args: _log_uncaught(args.exc_type, args.exc_value, args.exc_traceback)
    sys.unraisablehook = lambda args: _log_uncaught(args.exc_type, args.exc_value, args.exc_traceback)


def _log_uncaught(
    kind: type[BaseException], error: BaseException | None, traceback: types.TracebackType | None
) -> None:
    if not issubclass(kind, SystemExit):
        logging.getLogger("python").critical("uncaught", exc_info=(kind, error or kind(), traceback))


def _dumps(event: object, **_: object) -> str:
    try:
        return orjson.dumps(event, default=str).decode()
    except TypeError:  # a lone surrogate, or a number too large: logging must not fail
        return json.dumps(event, default=str)


def strip_values(text: str) -> str:
    """Return an error text without the lines in which PostgreSQL quotes statements or rows with customers' data."""
    return _QUOTES_A_VALUE.sub(r"\1 (a value)", _QUOTES_A_ROW.sub("", text)).rstrip()


def _strip_row_values(logger: object, method: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
    for name in ("exception", "error", *(("event",) if "_record" in event else ())):
        if isinstance(event.get(name), str):
            event[name] = strip_values(event[name])
    return event
