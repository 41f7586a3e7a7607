"""A page is a client of the API, in the same process: it calls declared operations as the person who is signed in.

So the guard, the limits, the schemas, the Idempotency-Key and the audit entry are the API's, in its order; what the
API refuses, the page refuses. A screen says beforehand which operations it uses.
"""

import functools
import io
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import orjson
from flask import Flask, Response, current_app, g, request

from api.access import guards, persons
from domain.refused import Refused
from pages import session

View = Callable[..., Any]

_NOT_TO_MEND = (401, 403, 404, 429)


class FreshLoginNeeded(Exception):
    """The API wants the person to have logged in a shorter time ago; the screens lead there and back."""


@dataclass(frozen=True, slots=True)
class CallRefusal:
    """Why the API said no: its code and message, and what is wrong with each field."""

    code: str
    message: str
    fields: Mapping[str, str]
    more: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class CallAnswer:
    """What the API answered: the JSON (or the text of a file) of a success, or the refusal."""

    status: int
    data: Any = None
    refusal: CallRefusal | None = None


def call(
    view: View,
    *,
    path: Mapping[str, object] | None = None,
    query: Mapping[str, object] | None = None,
    body: Mapping[str, Any] | None = None,
    key: str | None = None,
) -> CallAnswer:
    """Ask an operation that this screen uses, as the person who is signed in; `key` is its Idempotency-Key.

    `path` are the names in its address, as the view knows them.
    Costs what the operation costs and no round trip of its own. Raises what the application does not handle, and
    FreshLoginNeeded, which is the screens' to handle.
    """
    answer = _read(_answered(view, path, query, body, key))
    if answer.refusal is not None and answer.refusal.code == "fresh_login_required":
        raise FreshLoginNeeded
    return answer


def passed_on(view: View, *, query: Mapping[str, object] | None = None) -> Response:
    """Return the API's own answer, as it is given out piece by piece: a file. Raises Refused with the API's status."""
    answer = _answered(view, None, query, None, None)
    if answer.status_code >= 400:
        refusal = _read(answer).refusal or CallRefusal("", "", {}, {})
        raise Refused(answer.status_code, refusal.code or "refused", refusal.message)
    return answer


def _answered(
    view: View,
    path: Mapping[str, object] | None,
    query: Mapping[str, object] | None,
    body: Mapping[str, Any] | None,
    key: str | None,
) -> Response:
    if view not in g.get("screen_uses", ()):
        raise RuntimeError(f"the screen does not say that it uses {view.__name__}")
    app: Flask = current_app._get_current_object()  # type: ignore[attr-defined]  # the inner request needs its own
    endpoint = _endpoint(app, view)
    rule = next(iter(app.url_map.iter_rules(endpoint)))
    method = next(iter((rule.methods or set()) - {"HEAD", "OPTIONS"}))
    address = app.url_map.bind("localhost").build(endpoint, path or {}, method=method)
    sent = _encoded(body) if body is not None else b""
    environ = _environ(method, address, _query(query or {}), sent) | {persons.ENVIRON_KEY: session.person()}
    if key is not None:
        environ["HTTP_IDEMPOTENCY_KEY"] = key
    with app.app_context(), app.request_context(environ):
        answer: Response = app.full_dispatch_request()
    return answer


def needed(view: View, *, path: Mapping[str, object] | None = None, query: Mapping[str, object] | None = None) -> Any:
    """Return the data of an operation that the screen cannot do without. Raises Refused with the API's own status."""
    answer = call(view, path=path, query=query)
    if answer.refusal is not None:
        raise Refused(answer.status, answer.refusal.code or "refused", answer.refusal.message)
    return answer.data


def tried(
    view: View,
    *,
    path: Mapping[str, object] | None = None,
    body: Mapping[str, Any] | None = None,
    key: str | None = None,
) -> CallAnswer:
    """Ask for what a form asks for, like `call`. Raises Refused where nothing in the form can be mended: the person may
    not, what it is about is gone, it comes too often, or it is our fault.
    """
    answer = call(view, path=path, body=body, key=key)
    if answer.refusal is not None and (answer.status in _NOT_TO_MEND or answer.status >= 500):
        raise Refused(answer.status, answer.refusal.code or "refused", answer.refusal.message)
    return answer


def may(view: View) -> bool:
    """Say whether the person would be let in to an operation, so that nothing is offered that is refused."""
    return guards.may(_guard(view), session.person())


def _guard(view: Any) -> guards.Guard:
    found: guards.Guard = view.operation.guard
    return found


@functools.lru_cache(maxsize=512)
def _endpoint(app: Flask, view: View) -> str:
    return next(name for name, known in app.view_functions.items() if known is view)


def _encoded(body: Mapping[str, Any]) -> bytes:
    """Return a body as JSON, with numbers of any length: the API says what is too large."""
    try:
        return orjson.dumps(body)
    except orjson.JSONEncodeError:
        return json.dumps(body).encode()


def _query(wanted: Mapping[str, object]) -> str:
    return urlencode({name: value for name, value in wanted.items() if value is not None})


def _environ(method: str, path: str, query: str, body: bytes) -> dict[str, Any]:
    """Return a WSGI environment of this request's sender, without its cookie and its other headers."""
    outer = request.environ
    kept = ("REMOTE_ADDR", "REMOTE_PORT", "SERVER_NAME", "SERVER_PORT", "SERVER_PROTOCOL", "wsgi.url_scheme")
    return {
        **{name: outer[name] for name in kept if name in outer},
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


def _read(response: Response) -> CallAnswer:
    text = response.get_data()
    kind = response.mimetype or ""
    data = orjson.loads(text) if text and kind.endswith("json") else text.decode() if kind == "text/csv" else None
    if response.status_code < 400:
        return CallAnswer(response.status_code, data)
    return CallAnswer(response.status_code, refusal=_refusal(data if isinstance(data, dict) else {}))


def _refusal(said: Mapping[str, Any]) -> CallRefusal:
    """Read both of the API's shapes: the envelope, and the problem details that name every field."""
    errors = said.get("errors")
    if isinstance(errors, dict):
        fields = {name: _first(found) for name, found in errors.items()}
        return CallRefusal("", str(said.get("title", "")), fields, {})
    more = {name: value for name, value in said.items() if name not in ("error", "message", "field")}
    message = str(said.get("message", ""))
    field = said.get("field")
    return CallRefusal(str(said.get("error", "")), message, {str(field): message} if field else {}, more)


def _first(found: Any) -> str:
    """Return the first thing that is wrong, however deep in a list or a record it stands."""
    while isinstance(found, dict | list) and found:
        found = next(iter(found.values())) if isinstance(found, dict) else found[0]
    return str(found)
