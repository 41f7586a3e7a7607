"""A page is a client of the API, in the same process: it calls declared operations as the person who is signed in.

So the guard, the limits, the schemas, the Idempotency-Key and the audit entry are the API's, in its order; what the
API refuses, the page refuses. A screen says beforehand which operations it uses.
"""

import functools
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import orjson
from flask import Flask, Response, current_app, g

from api.access import guards, persons
from api.edge import internal_requests
from domain.refusals import Refused
from pages import session

View = Callable[..., Any]

_NOT_TO_MEND = (401, 403, 404, 429)


class FreshLoginNeeded(Exception):
    """The API wants the person to have logged in a shorter time ago; the screens lead there and back."""


@dataclass(frozen=True, slots=True)
class CallRefusal:
    """Why the API said no: its code and message, what is wrong with each field, and what else it says of that.

    Of what is malformed `more` has all `errors`, as deep as they stand in lists and records.
    """

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


def asked_by_a_stranger(
    view: View, *, path: Mapping[str, object], body: Mapping[str, Any], key: str | None = None
) -> CallAnswer:
    """Ask an operation that is open to everybody as nobody, for a stranger's form; `key` is its Idempotency-Key.

    Costs what the operation costs. Raises what the application does not handle.
    """
    return _read(_sent(view, path, None, body, key, carried={}))


def passed_on(
    view: View, *, path: Mapping[str, object] | None = None, query: Mapping[str, object] | None = None
) -> Response:
    """Return the API's own answer, as it is given out piece by piece: a file. Raises Refused with the API's status."""
    answer = _answered(view, path, query, None, None)
    if answer.status_code >= 400:
        given(_read(answer))
    answer.vary.add("Cookie")
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
    return _sent(view, path, query, body, key, carried={persons.ENVIRON_KEY: session.person()})


def _sent(
    view: View,
    path: Mapping[str, object] | None,
    query: Mapping[str, object] | None,
    body: Mapping[str, Any] | None,
    key: str | None,
    *,
    carried: Mapping[str, object],
) -> Response:
    app: Flask = current_app._get_current_object()  # type: ignore[attr-defined]  # what it has found is kept by it
    return internal_requests.send(
        _endpoint(app, view),
        path=path,
        query=_query(query or {}),
        body=_encoded(body) if body is not None else b"",
        headers={"Idempotency-Key": key} if key is not None else None,
        extra_environ=carried,
    )


def needed(
    view: View,
    *,
    path: Mapping[str, object] | None = None,
    query: Mapping[str, object] | None = None,
    body: Mapping[str, Any] | None = None,
) -> Any:
    """Return the data of an operation that the screen cannot do without. Raises Refused with the API's own status."""
    return given(call(view, path=path, query=query, body=body))


def given(answer: CallAnswer) -> Any:
    """Return the data of an answer. Raises Refused with the API's own status where it is a refusal."""
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
    if answer.status in _NOT_TO_MEND or answer.status >= 500:
        given(answer)
    return answer


def may(operation: View | str) -> bool:
    """Return whether the person would be let in to an operation, so that nothing is offered that is refused.

    Templates name one of those that their screen uses.
    """
    if isinstance(operation, str):
        operation = next(view for view in g.screen_uses if view.__name__ == operation)
    return guards.is_allowed(_guard(operation), session.person())


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
        fields = {name: first(found) for name, found in errors.items()}
        return CallRefusal("", str(said.get("title", "")), fields, {"errors": errors})
    more = {name: value for name, value in said.items() if name not in ("error", "message", "field")}
    message = str(said.get("message", ""))
    field = said.get("field")
    return CallRefusal(str(said.get("error", "")), message, {str(field): message} if field else {}, more)


def first(found: Any) -> str:
    """Return the first thing that is wrong, however deep in a list or a record it stands."""
    while isinstance(found, dict | list) and found:
        found = next(iter(found.values())) if isinstance(found, dict) else found[0]
    return str(found)
