"""Structured logs: one line per thing that happened, with the request or job it belongs to, and no secrets.

What may be logged is chosen field by field where it is logged; ids, codes, counts and durations, never bodies,
headers, addresses of customers, keys or signatures.
"""

import logging
import re
import sys

import orjson
import structlog

import settings

# DETAIL carries the row, LINE the statement with its values filled in, with a caret below it.
_QUOTES_A_ROW = re.compile(r"\s*(DETAIL|CONTEXT|QUERY|LINE \d+):|\s*\^\s*$|.*(DETAIL|LINE \d+): ")


def configure(chosen: settings.Settings) -> None:
    """Send our own lines and the libraries' warnings to standard error in the chosen format."""
    level = getattr(logging, chosen.log_level.upper())
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
        _without_row_values,
    ]
    as_json = chosen.log_format == "json"
    structlog.configure(
        processors=[*shared, structlog.processors.JSONRenderer(_dumps) if as_json else structlog.dev.ConsoleRenderer()],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.WriteLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
    line = "%(levelname)s %(name)s %(message)s"
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format=line, force=True)


def _dumps(event: object, **_: object) -> str:
    return orjson.dumps(event, default=str).decode()


def without_values(text: str) -> str:
    """Return an error text without the lines in which PostgreSQL quotes a statement or a row, and so a customer."""
    return "\n".join(line for line in text.splitlines() if not _QUOTES_A_ROW.match(line))


def _without_row_values(logger: object, method: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
    for name in ("exception", "error"):
        if isinstance(event.get(name), str):
            event[name] = without_values(event[name])
    return event
