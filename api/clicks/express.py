"""Clicks in front of the routes: the one request that comes by the thousand, when nothing about it is unusual.

It answers what `clicks.count_click` answers, to the byte, with the same functions; what it does not know at once
(a body that is malformed, a link this process has not asked for lately, a limit that is reached) goes on to the
routes as it came. `docs/decisions/0013` says why.

Who can wait calls it as the WSGI application that it is. Who cannot, as the server's loop, asks first and brings the
answer of the stream's server later (`api.server.at_once`).
"""

import re
from collections.abc import Callable, Iterable, Mapping
from contextvars import copy_context
from io import BytesIO
from typing import Any

import orjson
from flask import Flask

from adapters.broker import RedisError
from adapters.loop_wire import Question
from api.access import strangers
from api.clicks import clicks, visits
from api.clicks.visits import Counted, VisitOrigin, VisitSender
from api.edge import body, cors, trace
from api.server.asked import Answer
from models.clicks.public_links import Link
from pipelines.clicks import public_links

_OK = "200 OK"
_HEADERS = (("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff"), ("Vary", "Origin"))
# Asks for more than the answer, or is written so that it may.
_ASKS_WHY = re.compile(r"debug|%")
_PLAIN_HOST = re.compile(r"[a-z0-9-]+(\.[a-z0-9-]+)*(:[0-9]{1,5})?")

Environ = dict[str, Any]
Wsgi = Callable[[Environ, Callable[..., Any]], Iterable[bytes]]


class Express:
    """A WSGI application around another one."""

    #: How every request begins that it may answer.
    begins = f"POST {clicks.PATH}".encode()
    #: How large one is at most that who cannot wait is to look at: its head, and two addresses of a few kilobytes.
    most_bytes = 16 * 1024

    def __init__(self, app: Flask) -> None:
        self._routes: Wsgi = app.wsgi_app
        self._held = app.extensions

    def __call__(self, environ: Environ, start_response: Callable[..., Any]) -> Iterable[bytes]:
        """Answer a click that is in order; hand everything else to the routes."""
        asked = self.ask(environ)
        answer = asked.wait() if asked is not None else None
        if answer is None:
            return self._routes(environ, start_response)
        status, headers, sent = answer
        start_response(status, headers)
        return [sent]

    def ask(self, environ: Environ, _: object = None) -> "AskedClick | None":
        """Return a click that is in order before the stream's server was asked; None for what is the routes'."""
        return self._in_order(environ) if environ["PATH_INFO"] == clicks.PATH and _is_plain(environ) else None

    def _in_order(self, environ: Environ) -> "AskedClick | None":
        raw = environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"]))
        environ["wsgi.input"] = BytesIO(raw)  # for the routes, should it come to them
        sent = clicks.BODY.well_formed(body.parsed(raw))
        link = _remembered(sent) if sent is not None else None
        sender = VisitSender(environ, self._held["limiter"], self._held["click_stream"])
        if sent is None or link is None or sender.limiter.is_full(visits.BUCKET, strangers.network_of(sender.ip)):
            return None
        return AskedClick(sender, link, clicks.origin_of(sent))


class AskedClick:
    """A click in order, before the stream's server was asked. What is logged of it is logged under its request id."""

    def __init__(self, sender: VisitSender, link: Link, origin: VisitOrigin) -> None:
        self._context = copy_context()  # a loop has many requests under way
        self._begun = self._context.run(trace.begin, sender.environ)
        self._link = link
        self._visit = visits.leaving(sender, link, origin)

    @property
    def is_let_through(self) -> bool:
        """Say whether the server is to be left alone for a while, so that who asks it does not wait for an answer."""
        return self._visit.sender.limiter.is_left_alone()

    def question(self) -> Question:
        """Return what the stream's server is to be asked."""
        return self._visit.question()

    def answer(self, told: Any) -> Answer | None:
        """Return what the click is answered where the server told this; None for what is the routes'."""
        return self._context.run(self._answer, self._visit.counted, told)

    def answer_without(self, error: RedisError) -> Answer | None:
        """Return what the click is answered where the server did not answer for certain. Waits for the database."""
        return self._context.run(self._answer, self._visit.counted_without, error)

    def wait(self) -> Answer | None:
        """Ask the server, wait, and return what the click is answered; None for what is the routes'."""
        return self._context.run(self._answer, self._visit.send)

    def _answer(self, count: Callable[..., Counted], *told: Any) -> Answer | None:
        counted = count(*told)
        if counted.is_over_limit:
            return None  # the limiter remembers it, so the routes refuse without counting again
        sent = orjson.dumps(clicks.shown(counted.click_id, self._link) if counted.click_id else {"ok": True})
        headers = _headers(self._visit.sender.environ, self._begun, len(sent))
        trace.end(self._begun, "POST", clicks.PATH, 200)
        return _OK, headers, sent


def _is_plain(environ: Mapping[str, Any]) -> bool:
    length = environ.get("CONTENT_LENGTH") or ""
    return (
        environ["REQUEST_METHOD"] == "POST"
        and not environ.get("SCRIPT_NAME")
        and _ASKS_WHY.search(environ.get("QUERY_STRING", "")) is None
        and length.isascii()
        and length.isdigit()
        and 0 < int(length) <= clicks.MOST_BYTES
        and "HTTP_TRANSFER_ENCODING" not in environ
        and _PLAIN_HOST.fullmatch(environ.get("HTTP_HOST", "")) is not None
    )


def _remembered(sent: Mapping[str, Any]) -> Link | None:
    return public_links.remembered(clicks.address_of(sent))[1]


def _headers(environ: Mapping[str, Any], begun: trace.Trace, length: int) -> list[tuple[str, str]]:
    asking = environ.get("HTTP_ORIGIN")
    return [
        ("Content-Type", "application/json"),
        ("Content-Length", str(length)),
        ("X-Request-Id", begun.request_id),
        *_HEADERS,
        *(cors.marks(asking) if asking is not None else ()),
    ]
