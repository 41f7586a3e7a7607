"""Calls to the API in the same process: a page calls declared operations as the signed-in person.

The guard, the limits, the schemas, the Idempotency-Key and the audit entry are the API's, in its order; the page
refuses what the API refuses. A screen declares the operations that it uses.
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

_NOT_CORRECTABLE = (401, 403, 404, 429)


class FreshLoginNeeded(Exception):
    """The API requires a more recent login; the screens lead to sign in and back."""


@dataclass(frozen=True, slots=True)
class ApiRefusal:
    """A refusal of the API: its code and message, the error of each field, and all other members of the body.

    For a malformed body `more` has all `errors`, nested as the lists and records of the body.
    """

    code: str
    message: str
    fields: Mapping[str, str]
    more: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ApiResult:
    """A response of the API: the JSON (or the text of a file) of a success, or the refusal."""

    status: int
    data: Any = None
    refusal: ApiRefusal | None = None


def call(
    view: View,
    *,
    path: Mapping[str, object] | None = None,
    query: Mapping[str, object] | None = None,
    body: Mapping[str, Any] | None = None,
    key: str | None = None,
) -> ApiResult:
    """Call an operation that this screen uses as the signed-in person; `key` is its Idempotency-Key.

    `path` has the parameters of its address. Costs the operation's round trips and none of its own. Raises exceptions
    that the application does not handle, and FreshLoginNeeded, which the screens handle.
    """
    answer = _read_response(_call_as_person(view, path, query, body, key))
    if answer.refusal is not None and answer.refusal.code == "fresh_login_required":
        raise FreshLoginNeeded
    return answer


def send_file(view: View, content: bytes, *, path: Mapping[str, object], key: str | None = None) -> ApiResult:
    """Send a CSV file as it is to an operation that this screen uses, like `call`."""
    person = session.require_person()
    _check_is_declared(view)
    app: Flask = current_app._get_current_object()  # type: ignore[attr-defined]  # the key of `_find_endpoint`'s cache
    return _read_response(
        internal_requests.send(
            _find_endpoint(app, view),
            path=path,
            body=content,
            content_type="text/csv",
            headers={"Idempotency-Key": key} if key is not None else None,
            extra_environ={persons.ENVIRON_KEY: person},
        )
    )


def call_anonymously(
    view: View, *, path: Mapping[str, object], body: Mapping[str, Any], key: str | None = None
) -> ApiResult:
    """Call a public operation without a person, for a visitor's form; `key` is its Idempotency-Key.

    Costs the operation's round trips. Raises exceptions that the application does not handle.
    """
    return _read_response(_send(view, path, None, body, key, carried={}))


def forward_file(
    view: View, *, path: Mapping[str, object] | None = None, query: Mapping[str, object] | None = None
) -> Response:
    """Return a file of the API as the API streams it. Raises Refused with the API's status."""
    answer = _call_as_person(view, path, query, None, None)
    if answer.status_code >= 400:
        require_data(_read_response(answer))
    answer.vary.add("Cookie")
    return answer


def _call_as_person(
    view: View,
    path: Mapping[str, object] | None,
    query: Mapping[str, object] | None,
    body: Mapping[str, Any] | None,
    key: str | None,
) -> Response:
    _check_is_declared(view)
    return _send(view, path, query, body, key, carried={persons.ENVIRON_KEY: session.require_person()})


def _check_is_declared(view: View) -> None:
    if view not in g.get("screen_uses", ()):
        raise RuntimeError(f"the screen does not declare that it uses {view.__name__}")


def _send(
    view: View,
    path: Mapping[str, object] | None,
    query: Mapping[str, object] | None,
    body: Mapping[str, Any] | None,
    key: str | None,
    *,
    carried: Mapping[str, object],
) -> Response:
    app: Flask = current_app._get_current_object()  # type: ignore[attr-defined]  # the key of `_find_endpoint`'s cache
    return internal_requests.send(
        _find_endpoint(app, view),
        path=path,
        query=urlencode({name: value for name, value in (query or {}).items() if value is not None}),
        body=_encode_body(body) if body is not None else b"",
        headers={"Idempotency-Key": key} if key is not None else None,
        extra_environ=carried,
    )


def require(
    view: View,
    *,
    path: Mapping[str, object] | None = None,
    query: Mapping[str, object] | None = None,
    body: Mapping[str, Any] | None = None,
) -> Any:
    """Return the data of an operation that the screen requires. Raises Refused with the API's own status."""
    return require_data(call(view, path=path, query=query, body=body))


def require_data(answer: ApiResult) -> Any:
    """Return the data of an answer. Raises Refused with the API's own status for a refusal."""
    if answer.refusal is not None:
        raise Refused(answer.status, answer.refusal.code or "refused", answer.refusal.message)
    return answer.data


def submit(
    view: View,
    *,
    path: Mapping[str, object] | None = None,
    query: Mapping[str, object] | None = None,
    body: Mapping[str, Any] | None = None,
    key: str | None = None,
) -> ApiResult:
    """Call the operation of a form, like `call`.

    Raises Refused where correcting the form cannot help: no permission, a missing record, too many requests, or a
    failure of the service.
    """
    answer = call(view, path=path, query=query, body=body, key=key)
    if answer.status in _NOT_CORRECTABLE or answer.status >= 500:
        require_data(answer)
    return answer


def is_allowed(operation: View | str) -> bool:
    """Return whether the person may call an operation, so that pages offer only permitted actions.

    Templates give the name of an operation that their screen uses.
    """
    if isinstance(operation, str):
        operation = next(view for view in g.screen_uses if view.__name__ == operation)
    return guards.is_allowed(_guard_of(operation), session.require_person())


def _guard_of(view: Any) -> guards.Guard:
    guard: guards.Guard = view.operation.guard
    return guard


@functools.lru_cache(maxsize=512)
def _find_endpoint(app: Flask, view: View) -> str:
    return next(name for name, registered in app.view_functions.items() if registered is view)


def _encode_body(body: Mapping[str, Any]) -> bytes:
    """Return a body as JSON, with numbers of any length: the API refuses those that are too large."""
    try:
        return orjson.dumps(body)
    except orjson.JSONEncodeError:
        return json.dumps(body).encode()


def _read_response(response: Response) -> ApiResult:
    text = response.get_data()
    kind = response.mimetype or ""
    data = orjson.loads(text) if text and kind.endswith("json") else text.decode() if kind == "text/csv" else None
    if response.status_code < 400:
        return ApiResult(response.status_code, data)
    return ApiResult(response.status_code, refusal=_read_refusal(data if isinstance(data, dict) else {}))


def _read_refusal(body: Mapping[str, Any]) -> ApiRefusal:
    """Return a refusal from either of the API's formats: the envelope, or problem details with every field."""
    errors = body.get("errors")
    if isinstance(errors, dict):
        fields = {name: first_error(messages) for name, messages in errors.items()}
        return ApiRefusal("", str(body.get("title", "")), fields, {"errors": errors})
    more = {name: value for name, value in body.items() if name not in ("error", "message", "field")}
    message = str(body.get("message", ""))
    field = body.get("field")
    return ApiRefusal(str(body.get("error", "")), message, {str(field): message} if field else {}, more)


def first_error(error: Any) -> str:
    """Return the first message of nested errors."""
    while isinstance(error, dict | list) and error:
        error = next(iter(error.values())) if isinstance(error, dict) else error[0]
    return str(error)
