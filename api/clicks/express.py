"""Clicks in front of the routes: the one request that comes by the thousand, when nothing about it is unusual.

It answers what `clicks.count_click` answers, to the byte, with the same functions; what it does not know at once
(a body that is malformed, a link this process has not asked for lately, a limit that is reached) goes on to the
routes as it came. `docs/decisions/0013` says why.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from io import BytesIO
from typing import Any

import orjson
from flask import Flask

from api.access import strangers
from api.clicks import clicks, visits
from api.clicks.visits import VisitSender
from api.edge import body, cors, trace
from models.clicks.public_links import Link
from pipelines.clicks import public_links

_OK = "200 OK"
_HEADERS = (("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff"), ("Vary", "Origin"))
_PLAIN_HOST = re.compile(r"[a-z0-9-]+(\.[a-z0-9-]+)*(:[0-9]{1,5})?")

Environ = dict[str, Any]
Wsgi = Callable[[Environ, Callable[..., Any]], Iterable[bytes]]


class Express:
    """A WSGI application around another one."""

    def __init__(self, app: Flask) -> None:
        self._routes: Wsgi = app.wsgi_app
        self._held = app.extensions

    def __call__(self, environ: Environ, start_response: Callable[..., Any]) -> Iterable[bytes]:
        """Answer a click that is in order; hand everything else to the routes."""
        if environ["PATH_INFO"] == clicks.PATH and _is_plain(environ):
            begun = trace.begin(environ)
            answer = self._answer(environ)
            if answer is not None:
                start_response(_OK, _headers(environ, begun, len(answer)))
                trace.end(begun, "POST", clicks.PATH, 200)
                return [answer]
        return self._routes(environ, start_response)

    def _answer(self, environ: Environ) -> bytes | None:
        sender = VisitSender(environ, self._held["limiter"], self._held["click_stream"])
        raw = environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"]))
        environ["wsgi.input"] = BytesIO(raw)  # for the routes, should it come to them
        sent = _read(raw)
        link = _remembered(sent) if sent is not None else None
        if sent is None or link is None or sender.limiter.is_full(visits.BUCKET, strangers.network_of(sender.ip)):
            return None
        counted = visits.count_for(sender, link, clicks.origin_of(sent))
        if counted.is_over_limit:
            return None  # the limiter remembers it, so the routes refuse without counting again
        return orjson.dumps(clicks.shown(counted.click_id, link) if counted.click_id else {"ok": True})


def _is_plain(environ: Mapping[str, Any]) -> bool:
    length = environ.get("CONTENT_LENGTH") or ""
    return (
        environ["REQUEST_METHOD"] == "POST"
        and not environ.get("SCRIPT_NAME")
        and "debug" not in environ.get("QUERY_STRING", "")
        and length.isascii()
        and length.isdigit()
        and 0 < int(length) <= clicks.MOST_BYTES
        and "HTTP_TRANSFER_ENCODING" not in environ
        and _PLAIN_HOST.fullmatch(environ.get("HTTP_HOST", "")) is not None
    )


def _read(raw: bytes) -> Mapping[str, Any] | None:
    return clicks.BODY.well_formed(body.parsed(raw))


def _remembered(sent: Mapping[str, Any]) -> Link | None:
    program = sent["program_id"]
    return public_links.remembered(sent["slug"], str(program) if program else None)[1]


def _headers(environ: Mapping[str, Any], begun: trace.Trace, length: int) -> list[tuple[str, str]]:
    asking = environ.get("HTTP_ORIGIN")
    return [
        ("Content-Type", "application/json"),
        ("Content-Length", str(length)),
        ("X-Request-Id", begun.request_id),
        *_HEADERS,
        *(cors.marks(asking) if asking is not None else ()),
    ]
