"""Internal requests: a page or an agent's tool calls an operation from within a request, in this process.

An internal request skips the WSGI middleware (proxies, the fast path of clicks) and passes everything else: guard,
plan, limit, schemas, Idempotency-Key, audit entry and log line are the operation's. It gets only the outer request's
address, user agent and id, and has its own `g`.
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

_ENVIRON_KEY = "finderfee.channel"
_DEADLINE_KEY = "finderfee.deadline"
#: The environment key of the connection, our BufferedSocket, as gunicorn sets it.
CONNECTION_KEY = "gunicorn.socket"
_COPIED = (
    "REMOTE_ADDR",
    "REMOTE_PORT",
    "SERVER_NAME",
    "SERVER_PORT",
    "SERVER_PROTOCOL",
    "wsgi.url_scheme",
    _DEADLINE_KEY,
)


@dataclass(frozen=True, slots=True)
class Channel:
    """The channel of an internal request ("mcp", "copilot"), for the audit log; `client` is the program's own name."""

    via: str
    client: str | None = None


def send(
    endpoint: str,
    *,
    path: Mapping[str, object] | None = None,
    query: str = "",
    body: bytes = b"",
    content_type: str = "application/json",
    headers: Mapping[str, str] | None = None,
    extra_environ: Mapping[str, object] | None = None,
    channel: Channel | None = None,
) -> Response:
    """Call an operation and return its answer, which may be a stream.

    `path` are the arguments of the view; `extra_environ` are environment entries that no header can set. Costs the
    operation's round trips and none of its own. Raises what the application does not handle.
    """
    app: Flask = current_app._get_current_object()  # type: ignore[attr-defined]  # the inner request needs its own
    method = method_of(app, endpoint)
    address = _address(app, endpoint, path, method) if path else _static_address(app, endpoint)
    environ = _environ(method, address, query, body, content_type)
    environ |= {f"HTTP_{name.upper().replace('-', '_')}": value for name, value in (headers or {}).items()}
    environ |= extra_environ or {}
    environ[_ENVIRON_KEY] = channel
    # Within a request Flask would share the outer `g`, and the guard would overwrite its caller.
    return Context().run(_dispatch, app, environ)


def is_internal() -> bool:
    """Return whether this is an internal request."""
    return _ENVIRON_KEY in request.environ


def start_deadline() -> None:
    """Start the deadline of this request; an internal request has that of the outer one."""
    environ = request.environ
    if _DEADLINE_KEY not in environ:
        connection = environ.get(CONNECTION_KEY)
        environ[_DEADLINE_KEY] = Deadline(getattr(connection, "has_client_left", _never_left))
    deadline.start(environ[_DEADLINE_KEY])


def _never_left() -> bool:
    """Return that the client has not left, for requests without a connection."""
    return False


def channel() -> Channel | None:
    """Return the channel of this request; None for one from the network or from a page."""
    value: Channel | None = request.environ.get(_ENVIRON_KEY)
    return value


@functools.lru_cache(maxsize=512)
def method_of(app: Flask, endpoint: str) -> str:
    """Return the method of an operation. Raises KeyError if it does not exist."""
    rule = next(iter(app.url_map.iter_rules(endpoint)))
    return next(iter((rule.methods or set()) - {"HEAD", "OPTIONS"}))


@functools.lru_cache(maxsize=512)
def _static_address(app: Flask, endpoint: str) -> str:
    """Return the address of an operation without path arguments."""
    return _address(app, endpoint, {}, method_of(app, endpoint))


def _address(app: Flask, endpoint: str, path: Mapping[str, object], method: str) -> str:
    address = app.url_map.bind("localhost").build(endpoint, dict(path), method=method)
    return unquote_to_bytes(address).decode("latin-1")


def _dispatch(app: Flask, environ: dict[str, Any]) -> Response:
    with app.request_context(environ):
        return app.full_dispatch_request()


def _environ(method: str, path: str, query: str, body: bytes, content_type: str) -> dict[str, Any]:
    """Return a WSGI environment of this request's sender, without its credentials and its other headers."""
    outer = request.environ
    return {
        **{name: outer[name] for name in _COPIED if name in outer},
        "REQUEST_METHOD": method,
        "SCRIPT_NAME": "",
        "PATH_INFO": path,
        "QUERY_STRING": query,
        "CONTENT_TYPE": content_type,
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
