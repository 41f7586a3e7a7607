"""Asks an operation from within a request, in this process: for pages, and for tools of agents.

It is a request of its own, below what stands in front of the routes (who is in front of us, the fast path of clicks),
so guard, plan, limit, schemas, Idempotency-Key, audit entry and log line are the operation's. Nothing of the outer
request gets in but from where it came, what it says it is, and its id; its `g` is another one.
"""

import functools
import io
from collections.abc import Mapping
from contextvars import Context
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote_to_bytes

from flask import Flask, Response, current_app, g, request

from domain import deadline
from domain.deadline import Deadline

_ENVIRON_KEY = "finderfee.door"
_DEADLINE_KEY = "finderfee.deadline"
#: Where gunicorn puts the connection, our BufferedSocket.
CONNECTION_KEY = "gunicorn.socket"
_KEPT = (
    "REMOTE_ADDR",
    "REMOTE_PORT",
    "SERVER_NAME",
    "SERVER_PORT",
    "SERVER_PROTOCOL",
    "wsgi.url_scheme",
    _DEADLINE_KEY,
)


@dataclass(frozen=True, slots=True)
class SideDoor:
    """Through which door a nested request came, for the audit log; `client` is what a program calls itself."""

    via: str
    client: str | None = None


def ask(
    endpoint: str,
    *,
    path: Mapping[str, object] | None = None,
    query: str = "",
    body: bytes = b"",
    headers: Mapping[str, str] | None = None,
    carried: Mapping[str, object] | None = None,
    door: SideDoor | None = None,
) -> Response:
    """Return what an operation answers; it may be a stream.

    `path` are the names in its address, as the view knows them, `carried` is what no header of the network can bring.
    Costs what the operation costs and no round trip of its own. Raises what the application does not handle.
    """
    app: Flask = current_app._get_current_object()  # type: ignore[attr-defined]  # the inner request needs its own
    method = method_of(app, endpoint)
    address = _address(app, endpoint, path, method) if path else _plain_address(app, endpoint)
    environ = _environ(method, address, query, body)
    environ |= {f"HTTP_{name.upper().replace('-', '_')}": value for name, value in (headers or {}).items()}
    environ |= carried or {}
    environ[_ENVIRON_KEY] = door
    # Within a request Flask would share the outer one's `g`, and the guard would overwrite who calls.
    return Context().run(_answered, app, environ)


def is_within() -> bool:
    """Say whether this request is asked from within another."""
    return _ENVIRON_KEY in request.environ


def start_deadline() -> None:
    """Start the deadline of this request; a nested request has that of the outer one."""
    environ = request.environ
    if _DEADLINE_KEY not in environ:
        connection = environ.get(CONNECTION_KEY)
        environ[_DEADLINE_KEY] = Deadline(getattr(connection, "has_client_left", _stays))
    deadline.start(environ[_DEADLINE_KEY])


def _stays() -> bool:
    """Return that the client is there, where no connection says so."""
    return False


def door() -> SideDoor | None:
    """Return through which door this request came; None for one from the network and for a page's."""
    found: SideDoor | None = request.environ.get(_ENVIRON_KEY)
    return found


@functools.lru_cache(maxsize=512)
def method_of(app: Flask, endpoint: str) -> str:
    """Return the method of an operation. Raises KeyError when there is none of that name."""
    rule = next(iter(app.url_map.iter_rules(endpoint)))
    return next(iter((rule.methods or set()) - {"HEAD", "OPTIONS"}))


@functools.lru_cache(maxsize=512)
def _plain_address(app: Flask, endpoint: str) -> str:
    """Return the address of an operation that has no names in it."""
    return _address(app, endpoint, {}, method_of(app, endpoint))


def _address(app: Flask, endpoint: str, path: Mapping[str, object], method: str) -> str:
    address = app.url_map.bind("localhost").build(endpoint, dict(path), method=method)
    return unquote_to_bytes(address).decode("latin-1")


def _answered(app: Flask, environ: dict[str, Any]) -> Response:
    with app.request_context(environ):
        return app.full_dispatch_request()


def _environ(method: str, path: str, query: str, body: bytes) -> dict[str, Any]:
    """Return a WSGI environment of this request's sender, without its credentials and its other headers."""
    outer = request.environ
    return {
        **{name: outer[name] for name in _KEPT if name in outer},
        "REQUEST_METHOD": method,
        "SCRIPT_NAME": "",
        "PATH_INFO": path,
        "QUERY_STRING": query,
        "CONTENT_TYPE": "application/json",
        "CONTENT_LENGTH": str(len(body)),
        "HTTP_HOST": outer.get("HTTP_HOST", "localhost"),
        "HTTP_USER_AGENT": outer.get("HTTP_USER_AGENT", ""),
        "HTTP_X_REQUEST_ID": g.request_id,
        "wsgi.version": (1, 0),
        "wsgi.input": io.BytesIO(body),
        "wsgi.errors": outer["wsgi.errors"],
        "wsgi.multithread": True,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
    }
