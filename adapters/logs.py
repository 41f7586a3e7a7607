"""Structured logs: one line per thing that happened, with the request or job it belongs to, and no secrets.

What may be logged is chosen field by field where it is logged; ids, codes, counts and durations, never bodies,
headers, addresses of customers, keys or signatures.
"""

import json
import logging
import re
import sys

import orjson
import structlog

import settings

# DETAIL carries the row, LINE the statement with its values filled in. A value may have several lines, so everything
# goes up to the end of that exception's text.
_QUOTES_A_ROW = re.compile(
    r"(^|(?<=[ (]))(DETAIL|CONTEXT|QUERY|LINE \d+):.*?(?=^\n(?:The above exception was|During handling of)|\Z)",
    re.M | re.S,
)

_QUOTES_A_VALUE = re.compile(r"(invalid input (?:syntax|value) for [\w ]+:) .*")


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
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_WithoutValues("%(levelname)s %(name)s %(message)s"))
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)


class _WithoutValues(logging.Formatter):
    """Formats a library's record, whose traceback may be one of the database's too."""

    def format(self, record: logging.LogRecord) -> str:
        return without_values(super().format(record))


def _dumps(event: object, **_: object) -> str:
    try:
        return orjson.dumps(event, default=str).decode()
    except TypeError:  # half a surrogate pair, or a number too large: a log line is no reason to fail
        return json.dumps(event, default=str)


def without_values(text: str) -> str:
    """Return an error text without the lines in which PostgreSQL quotes a statement or a row, and so a customer."""
    return _QUOTES_A_VALUE.sub(r"\1 (a value)", _QUOTES_A_ROW.sub("", text)).rstrip()


def _without_row_values(logger: object, method: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
    for name in ("exception", "error"):
        if isinstance(event.get(name), str):
            event[name] = without_values(event[name])
    return event
