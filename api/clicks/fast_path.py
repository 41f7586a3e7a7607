"""Clicks on the event loop's fast path: the most frequent request, as long as nothing about it is unusual.

The response is byte for byte that of `clicks.count_click`, made by the same functions. Anything that takes more than
one call to Redis goes to the route unchanged: a malformed body, a link that this process has not cached, a sender over
the limit, Redis being down. See `docs/decisions/0013`.
"""

import re
from collections.abc import Mapping
from contextvars import copy_context
from typing import Any

import orjson
from flask import Flask

from adapters.broker import RedisError
from adapters.event_loop_redis import ScriptCall
from api.access import unknown_senders
from api.clicks import clicks, visits
from api.clicks.visits import PreparedVisit, UnconfirmedVisit, VisitSender
from api.edge import body, cors, trace
from api.server.fast_path import FastResponse
from models.clicks.public_links import Link
from pipelines.clicks import public_links

#: How every request begins that the event loop may answer.
REQUEST_PREFIX = f"POST {clicks.PATH}".encode()
#: The size of the largest such request: its head, and two addresses of a few kilobytes.
MAX_REQUEST_BYTES = 16 * 1024

_OK = "200 OK"
_HEADERS = (("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff"), ("Vary", "Origin"))
# A query that asks for the debug answer, or that may do so in percent-encoding.
_MAY_DEBUG = re.compile(r"debug|%")
_PLAIN_HOST = re.compile(r"[a-z0-9-]+(\.[a-z0-9-]+)*(:[0-9]{1,5})?")

Environ = dict[str, Any]


class FastClick:
    """A click that the event loop answers. Its log lines carry its own request id."""

    def __init__(self, visit: PreparedVisit, link: Link) -> None:
        self._context = copy_context()  # the loop has many requests under way
        self._trace = self._context.run(trace.begin, visit.sender.environ)
        self._visit = visit
        self._link = link

    def call(self) -> ScriptCall:
        """Return the call that counts the request and appends the click."""
        return self._visit.call()

    def response(self, reply: Any) -> FastResponse | None:
        """Return the response for Redis's reply; None if the sender is over the limit."""
        return self._context.run(self._response, reply)

    def hand_over(self, error: RedisError) -> UnconfirmedVisit:
        """Return the visit for the route, which writes the click under the id that Redis may already have."""
        return UnconfirmedVisit(self._visit, error)

    def _response(self, reply: Any) -> FastResponse | None:
        result = self._visit.result(reply)
        if result.is_over_limit:
            return None  # the limiter caches it, so the route refuses without counting again
        content = orjson.dumps(clicks.serialize(result.click_id, self._link))
        headers = _headers(self._visit.sender.environ, self._trace.request_id, len(content))
        trace.end(self._trace, clicks.PATH, 200, self._visit.sender.environ)
        return _OK, headers, content


def parse(app: Flask, environ: Environ, _: object = None) -> FastClick | None:
    """Return the click of a request; None for a request that belongs to the route. Does not block."""
    if environ["PATH_INFO"] != clicks.PATH or not _is_plain(environ):
        return None
    fields = clicks.BODY.well_formed(body.parse(environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"]))))
    if fields is None:
        return None
    _, link = public_links.find_cached(clicks.address_of(fields))
    sender = VisitSender(environ, app.extensions["limiter"], app.extensions["click_stream"])
    if link is None or sender.limiter.is_paused():
        return None
    if sender.limiter.is_full(visits.BUCKET, unknown_senders.network_from_address(sender.ip)):
        return None
    return FastClick(visits.prepare_visit(sender, link, clicks.origin_of(fields)), link)


def _is_plain(environ: Mapping[str, Any]) -> bool:
    length = environ.get("CONTENT_LENGTH") or ""
    return (
        environ["REQUEST_METHOD"] == "POST"
        and not environ.get("SCRIPT_NAME")
        and _MAY_DEBUG.search(environ.get("QUERY_STRING", "")) is None
        and length.isascii()
        and length.isdigit()
        and 0 < int(length) <= clicks.MAX_BYTES
        and "HTTP_TRANSFER_ENCODING" not in environ
        and _PLAIN_HOST.fullmatch(environ.get("HTTP_HOST", "")) is not None
    )


def _headers(environ: Mapping[str, Any], request_id: str, length: int) -> list[tuple[str, str]]:
    origin = environ.get("HTTP_ORIGIN")
    return [
        ("Content-Type", "application/json"),
        ("Content-Length", str(length)),
        ("X-Request-Id", request_id),
        *_HEADERS,
        *(cors.headers_for(origin) if origin is not None else ()),
    ]
