"""Error handlers: every exception becomes the answer that the spec defines.

Source: core spec, section 7 "Errors": the envelope `{error, message, field?}`, problem details for malformed requests,
empty bodies for 401 and 429. An answer stays small for any request: it has at most MAX_ERRORS errors of a body and only
short quotes of the caller's text. Each answer names the paragraph of its code at /docs/errors: in the field `doc_url`,
or without a body in a Link header (decision 81).
"""

from collections.abc import Iterator
from typing import Any

import structlog
from flask import Flask, Response, jsonify
from marshmallow import ValidationError
from werkzeug.exceptions import HTTPException

import settings
from domain.deadline import ClientLeft, DeadlineExceeded
from domain.refusals import Refused
from models import db

_log = structlog.get_logger(__name__)

#: How many errors of a body an answer lists.
MAX_ERRORS = 20
#: The code under which /docs/errors describes a refusal without a body.
BODILESS_CODES = {401: "unauthorized", 403: "forbidden", 404: "not_found", 429: "rate_limited"}
#: The code under which /docs/errors describes problem details.
PROBLEM_CODE = "invalid_request"

_RETRY_AFTER_S = "2"
# A key may be invented by the caller, and a message may quote the request.
_MAX_KEY_CHARACTERS = 100
_MAX_MESSAGE_CHARACTERS = 1_000
# The status that proxies log when a client closes its connection before the answer.
_CLIENT_CLOSED_REQUEST = 499


def register(app: Flask) -> None:
    """Install the handlers on the application."""
    app.register_error_handler(Refused, refusal_response)
    app.register_error_handler(ValidationError, validation_response)
    app.register_error_handler(HTTPException, http_error_response)
    app.register_error_handler(DeadlineExceeded, _deadline_exceeded)
    app.register_error_handler(ClientLeft, _client_left)
    for kind in db.UNAVAILABLE:
        app.register_error_handler(kind, _database_unavailable)
    app.register_error_handler(Exception, _unexpected_error)


def refusal_response(refusal: Refused) -> Response:
    """Return the envelope, or an empty body for a refusal without a code."""
    if not refusal.code:
        return empty_response(refusal.status)
    return _json(refusal.status, envelope(refusal))


def empty_response(status: int) -> Response:
    """Return an answer without a body and content type. A Link header leads to the meaning of a refusal."""
    answer = Response(status=status)
    del answer.headers["Content-Type"]
    if status in BODILESS_CODES:
        answer.headers["Link"] = f'<{doc_url(BODILESS_CODES[status])}>; rel="help"'
    return answer


def doc_url(code: str) -> str:
    """Return the address of the paragraph on an error code."""
    return f"{settings.current().web.url}/docs/errors#{code}"


def envelope(refusal: Refused) -> dict[str, object]:
    """Return the body of a refusal that has a code."""
    field = {"field": _shorten(refusal.field, _MAX_KEY_CHARACTERS)} if refusal.field else {}
    message = _shorten(refusal.message, _MAX_MESSAGE_CHARACTERS)
    return {"error": refusal.code, "message": message, **field, **refusal.more, "doc_url": doc_url(refusal.code)}


def validation_response(error: ValidationError) -> Response:
    """Return problem details with the first MAX_ERRORS errors by field, and the number of all."""
    messages = error.normalized_messages()
    count, first = _first_errors(messages)
    answer = _json(
        400,
        {
            "type": "about:blank",
            "title": "One or more fields of the request are malformed.",
            "status": 400,
            "errorCount": count,
            "errors": first,
            "doc_url": doc_url(PROBLEM_CODE),
        },
    )
    answer.content_type = "application/problem+json"
    return answer


def _first_errors(messages: object) -> tuple[int, dict[str, object]]:
    """Return the number of errors, and the first MAX_ERRORS of them nested like the JSON of the body."""
    count, first = 0, dict[str, object]()
    for path, message in _flatten(messages, ()):
        count += 1
        if count <= MAX_ERRORS:
            _insert(first, path, _shorten(message, _MAX_MESSAGE_CHARACTERS))
    return count, first


def _flatten(messages: object, path: tuple[object, ...]) -> Iterator[tuple[tuple[object, ...], str]]:
    """Yield each message with its path: names of fields, and positions in lists."""
    if isinstance(messages, dict):
        for name, inner in messages.items():
            yield from _flatten(inner, (*path, name))
    elif isinstance(messages, list):
        for message in messages:
            yield from _flatten(message, path)
    else:
        yield path, str(messages)


def _insert(errors: dict[str, object], path: tuple[object, ...], message: str) -> None:
    *places, last = (_shorten(str(name), _MAX_KEY_CHARACTERS) for name in path)
    place: Any = errors
    for name in places:
        place = place.setdefault(name, {})
    place.setdefault(last, []).append(message)


def _shorten(text: str, characters: int) -> str:
    return text if len(text) <= characters else f"{text[: characters - 1]}…"


def http_error_response(error: HTTPException) -> Response:
    """Return the envelope of an error of HTTP itself, such as an unknown address."""
    status = error.code or 500
    if status == 413:
        return refusal_response(
            Refused(413, "payload_too_large", "The request body is larger than this endpoint accepts.")
        )
    if status == 404:
        return refusal_response(Refused(404, "not_found", "There is no such address."))
    if status == 405:
        answer = refusal_response(Refused(405, "method_not_allowed", "This address does not accept that method."))
        allowed = getattr(error, "valid_methods", None)
        if allowed:
            answer.headers["Allow"] = ", ".join(sorted(allowed))
        return answer
    return refusal_response(Refused(status, "bad_request" if status < 500 else "server_error", error.description or ""))


def _database_unavailable(error: Exception) -> Response:
    _log.warning("request.database_unavailable", error=str(error).strip().partition("\n")[0])
    # The connection may have broken after the commit, so the message does not say whether anything was recorded.
    answer = refusal_response(
        Refused(503, "temporarily_unavailable", "The database cannot be reached. Repeat the same request.")
    )
    answer.headers["Retry-After"] = _RETRY_AFTER_S
    return answer


def _deadline_exceeded(_: DeadlineExceeded) -> Response:
    _log.warning("request.deadline_exceeded")
    message = "Reading the request took too long. Send it in smaller parts."
    return refusal_response(Refused(503, "request_deadline_exceeded", message))


def _client_left(_: ClientLeft) -> Response:
    return empty_response(_CLIENT_CLOSED_REQUEST)


def _unexpected_error(error: Exception) -> Response:
    _log.error("request.failed", exc_info=error)
    return refusal_response(
        Refused(500, "server_error", "Something went wrong on our side. If it happens again, report the X-Request-Id.")
    )


def _json(status: int, body: dict[str, object]) -> Response:
    answer = jsonify(body)
    answer.status_code = status
    return answer
