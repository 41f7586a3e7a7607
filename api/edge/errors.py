"""Turns every way to fail into the answer the spec gives it.

Source: core spec, section 7 "Errors": the envelope `{error, message, field?}`, problem details for requests that are
malformed, empty bodies for 401 and 429.
"""

import structlog
from flask import Flask, Response, jsonify
from marshmallow import ValidationError
from werkzeug.exceptions import HTTPException

from domain.refused import Refused
from models import db

_log = structlog.get_logger(__name__)

_RETRY_AFTER_S = "2"


def register(app: Flask) -> None:
    """Install the handlers on the application."""
    app.register_error_handler(Refused, refused)
    app.register_error_handler(ValidationError, malformed)
    app.register_error_handler(HTTPException, _http_error)
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
    field = {"field": refusal.field} if refusal.field else {}
    return {"error": refusal.code, "message": refusal.message, **field, **refusal.more}


def malformed(error: ValidationError) -> Response:
    """Return problem details that name every field at fault."""
    answer = _json(
        400,
        {
            "type": "about:blank",
            "title": "One or more fields of the request are malformed.",
            "status": 400,
            "errors": _named(error.normalized_messages()),
        },
    )
    answer.content_type = "application/problem+json"
    return answer


def _named(messages: object) -> object:
    # What is wrong with a list is filed under the positions of its items, and JSON has text keys only.
    if isinstance(messages, dict):
        return {str(name): _named(found) for name, found in messages.items()}
    return messages


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


def _bug(error: Exception) -> Response:
    _log.error("request.failed", exc_info=error)
    return refused(Refused(500, "server_error", "Something went wrong on our side; the request id names it."))


def _json(status: int, body: dict[str, object]) -> Response:
    answer = jsonify(body)
    answer.status_code = status
    return answer
