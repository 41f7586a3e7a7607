"""Errors of calls and webhooks. Branch on `code`; the message is for people and may change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class FinderfeeError(Exception):
    """The base class of this package's errors."""


class ApiError(FinderfeeError):
    """The service refused the request.

    status: the HTTP status.
    code: the stable code of the refusal, such as `affiliate_not_found`. None where the service gives none: for 401 and
        429, and for a malformed request, whose `errors` say what is wrong by field.
    field: the invalid field, if there is one.
    request_id: the request's id in the service's log.
    retry_after_s: the seconds to wait, if the service names them.
    body: the response if it is JSON, else None.
    """

    def __init__(
        self, status: int, *, body: Any = None, request_id: str | None = None, retry_after_s: float | None = None
    ) -> None:
        content: Mapping[str, Any] = body if isinstance(body, Mapping) else {}
        errors = content.get("errors")
        self.status = status
        self.body = body
        self.code: str | None = content.get("error")
        self.errors: Mapping[str, Any] = errors if isinstance(errors, Mapping) else {}
        self.field: str | None = content.get("field") or next(iter(self.errors), None)
        self.message: str = (
            content.get("message") or content.get("title") or _MESSAGES.get(status, "The request was refused.")
        )
        self.request_id = request_id
        self.retry_after_s = retry_after_s
        super().__init__(str(self))

    def __str__(self) -> str:
        parts = [str(self.status), self.code or "", self.message, f"(field {self.field})" if self.field else ""]
        parts.append(f"(request {self.request_id})" if self.request_id else "")
        return " ".join(part for part in parts if part)


class ConnectionFailed(FinderfeeError):
    """No attempt got a response. The request may have been executed; repeating the same call is safe."""


class InvalidSignature(FinderfeeError):
    """The webhook is not authentic: respond 400 and ignore it."""


_MESSAGES = {
    401: "The API key or the signature is invalid; check the signing secret, the exact bytes and the clock.",
    429: "Too many requests.",
}
