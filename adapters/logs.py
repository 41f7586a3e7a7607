"""Structured logs: one line per thing that happened, with the request or job it belongs to, and no secrets.

What may be logged is chosen field by field where it is logged; ids, codes, counts and durations, never bodies,
headers, addresses of customers, keys or signatures.
"""

import json
import logging
import re
import sys
import threading
import types
from collections.abc import Iterable

import orjson

from adapters import absent
from settings.concerns.monitoring import Monitoring

with absent("rich"):  # for tracebacks, which are text by then: with pygments three megabytes of every process
    import structlog

# DETAIL carries the row, LINE the statement with its values filled in. A value may have several lines, so everything
# goes up to the end of that exception's text.
_QUOTES_A_ROW = re.compile(
    r"(^|(?<=[ (]))(DETAIL|CONTEXT|QUERY|LINE \d+):.*?(?=^\n(?:The above exception was|During handling of)|\Z)",
    re.M | re.S,
)

# What lines are marked with while a thread is at work on something.
_MARKS = ("request_id", "traceparent", "job_id", "job", "attempt")

_QUOTES_A_VALUE = re.compile(r"(invalid input (?:syntax|value) for [\w ]+:) .*")


def configure(chosen: Monitoring) -> None:
    """Send our own lines and the libraries' warnings to standard error in the chosen format; before threads begin."""
    make_marks()
    level = getattr(logging, chosen.log_level.upper())
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
        _without_row_values,
    ]
    as_json = chosen.log_format == "json"
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


def warn_of_old_settings(warnings: Iterable[str]) -> None:
    """Report variables that are set under old names: as sentences on a terminal, else as log lines."""
    for warning in warnings:
        if sys.stderr.isatty():
            sys.stderr.write(f"finderfee: {warning}\n")
        else:
            structlog.get_logger(__name__).warning("setting.old_name", warning=warning)


def make_marks() -> None:
    """Make the variables of all marks.

    structlog would make each where it is set first: two threads that are first at once would each make one, and one of
    them could not take its mark back.
    """
    structlog.contextvars.reset_contextvars(**structlog.contextvars.bind_contextvars(**dict.fromkeys(_MARKS)))


def catch_the_rest() -> None:
    """Log what Python would write by itself: what nobody caught, in any thread, and warnings.

    For processes whose output is read by a machine; a person who typed a command wants to see a traceback as it is.
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
    except TypeError:  # half a surrogate pair, or a number too large: a log line must not fail
        return json.dumps(event, default=str)


def without_values(text: str) -> str:
    """Return an error text without the lines in which PostgreSQL quotes a statement or a row, and so a customer."""
    return _QUOTES_A_VALUE.sub(r"\1 (a value)", _QUOTES_A_ROW.sub("", text)).rstrip()


def _without_row_values(logger: object, method: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
    for name in ("exception", "error", *(("event",) if "_record" in event else ())):
        if isinstance(event.get(name), str):
            event[name] = without_values(event[name])
    return event
