"""Turns every way to fail into the answer the spec gives it.

Source: core spec, section 7 "Errors": the envelope `{error, message, field?}`, problem details for requests that are
malformed, empty bodies for 401 and 429. Whatever a caller sends, the answer stays small: at most MAX_ERRORS errors of a
body, and no text of the caller's longer than some words.
"""

from collections.abc import Iterator
from typing import Any

import structlog
from flask import Flask, Response, jsonify
from marshmallow import ValidationError
from werkzeug.exceptions import HTTPException

from domain.deadline import ClientLeft, DeadlineExceeded
from domain.refusals import Refused
from models import db

_log = structlog.get_logger(__name__)

#: How many errors of a body are answered.
MAX_ERRORS = 20

_RETRY_AFTER_S = "2"
# A key may be one that the caller made up, and a message may quote what was sent.
_MAX_KEY_CHARACTERS = 100
_MAX_MESSAGE_CHARACTERS = 1_000
# The status that servers in front of us log when a client closes its connection before it is answered.
_CLIENT_CLOSED_REQUEST = 499


def register(app: Flask) -> None:
    """Install the handlers on the application."""
    app.register_error_handler(Refused, refused)
    app.register_error_handler(ValidationError, malformed)
    app.register_error_handler(HTTPException, _http_error)
    app.register_error_handler(DeadlineExceeded, _deadline_exceeded)
    app.register_error_handler(ClientLeft, _client_left)
    for kind in db.UNAVAILABLE:
        app.register_error_handler(kind, _database_unavailable)
    app.register_error_handler(Exception, _bug)


def refused(refusal: Refused) -> Response:
    """Return the envelope, or an empty body for a refusal without a code."""
    if not refusal.code:
        return empty(refusal.status)
    return _json(refusal.status, envelope(refusal))


def empty(status: int) -> Response:
    """Return an answer without a body, which has no content type either."""
    answer = Response(status=status)
    del answer.headers["Content-Type"]
    return answer


def envelope(refusal: Refused) -> dict[str, object]:
    """Return the body of a refusal that has a code."""
    field = {"field": _shortened(refusal.field, _MAX_KEY_CHARACTERS)} if refusal.field else {}
    message = _shortened(refusal.message, _MAX_MESSAGE_CHARACTERS)
    return {"error": refusal.code, "message": message, **field, **refusal.more}


def malformed(error: ValidationError) -> Response:
    """Return problem details with the first MAX_ERRORS errors by field, and how many there are."""
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
        },
    )
    answer.content_type = "application/problem+json"
    return answer


def _first_errors(messages: object) -> tuple[int, dict[str, object]]:
    """Return how many errors there are, and the first MAX_ERRORS of them at their places as JSON has them."""
    count, first = 0, dict[str, object]()
    for path, message in _flat(messages, ()):
        count += 1
        if count <= MAX_ERRORS:
            _put(first, path, _shortened(message, _MAX_MESSAGE_CHARACTERS))
    return count, first


def _flat(messages: object, path: tuple[object, ...]) -> Iterator[tuple[tuple[object, ...], str]]:
    """Yield each message with its place: names of fields, and positions in lists."""
    if isinstance(messages, dict):
        for name, inner in messages.items():
            yield from _flat(inner, (*path, name))
    elif isinstance(messages, list):
        for message in messages:
            yield from _flat(message, path)
    else:
        yield path, str(messages)


def _put(errors: dict[str, object], path: tuple[object, ...], message: str) -> None:
    *places, last = (_shortened(str(name), _MAX_KEY_CHARACTERS) for name in path)
    place: Any = errors
    for name in places:
        place = place.setdefault(name, {})
    place.setdefault(last, []).append(message)


def _shortened(text: str, characters: int) -> str:
    return text if len(text) <= characters else f"{text[: characters - 1]}…"


def _http_error(error: HTTPException) -> Response:
    status = error.code or 500
    if status == 413:
        return refused(Refused(413, "payload_too_large", "The request body is larger than this endpoint takes."))
    if status == 404:
        return refused(Refused(404, "not_found", "There is no such address."))
    if status == 405:
        answer = refused(Refused(405, "method_not_allowed", "This address does not take that method."))
        allowed = getattr(error, "valid_methods", None)
        if allowed:
            answer.headers["Allow"] = ", ".join(sorted(allowed))
        return answer
    return refused(Refused(status, "bad_request" if status < 500 else "server_error", error.description or ""))


def _database_unavailable(error: Exception) -> Response:
    _log.warning("request.database_unavailable", error=str(error).strip().partition("\n")[0])
    # The connection may have gone after the commit and before its answer, so nothing is said about what was recorded.
    answer = refused(
        Refused(503, "temporarily_unavailable", "The database cannot be reached. Repeat the same request.")
    )
    answer.headers["Retry-After"] = _RETRY_AFTER_S
    return answer


def _deadline_exceeded(_: DeadlineExceeded) -> Response:
    _log.warning("request.deadline_exceeded")
    message = "Reading the request took too long. Send it in smaller parts."
    return refused(Refused(503, "request_deadline_exceeded", message))


def _client_left(_: ClientLeft) -> Response:
    return empty(_CLIENT_CLOSED_REQUEST)


def _bug(error: Exception) -> Response:
    _log.error("request.failed", exc_info=error)
    return refused(Refused(500, "server_error", "Something went wrong on our side; the request id names it."))


def _json(status: int, body: dict[str, object]) -> Response:
    answer = jsonify(body)
    answer.status_code = status
    return answer
