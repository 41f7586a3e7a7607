"""What can go wrong with a call or a webhook. Branch on `code`; the message is for people and may change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class FinderfeeError(Exception):
    """Everything that this package raises for a call or a webhook."""


class ApiError(FinderfeeError):
    """The service said no.

    status: the HTTP status.
    code: the stable code of the refusal, such as `affiliate_not_found`. None where the service gives none: for 401 and
        429, and for a malformed request, whose `errors` say what is wrong by field.
    field: the input at fault, where there is one.
    request_id: names the request in the service's log.
    retry_after_s: the seconds that the service asked to wait.
    body: the whole answer where it is JSON, else None.
    """

    def __init__(
        self, status: int, *, body: Any = None, request_id: str | None = None, retry_after_s: float | None = None
    ) -> None:
        said: Mapping[str, Any] = body if isinstance(body, Mapping) else {}
        errors = said.get("errors")
        self.status = status
        self.body = body
        self.code: str | None = said.get("error")
        self.errors: Mapping[str, Any] = errors if isinstance(errors, Mapping) else {}
        self.field: str | None = said.get("field") or next(iter(self.errors), None)
        self.message: str = said.get("message") or said.get("title") or _SAID.get(status, "The request was refused.")
        self.request_id = request_id
        self.retry_after_s = retry_after_s
        super().__init__(str(self))

    def __str__(self) -> str:
        parts = [str(self.status), self.code or "", self.message, f"(field {self.field})" if self.field else ""]
        parts.append(f"(request {self.request_id})" if self.request_id else "")
        return " ".join(part for part in parts if part)


class ConnectionFailed(FinderfeeError):
    """No answer came, in none of the attempts. What was sent may have been taken; the same call again is safe."""


class InvalidSignature(FinderfeeError):
    """A webhook that must not be believed: answer 400 and do nothing else."""


_SAID = {
    401: "The API key or the signature is not accepted; look at the signing secret, the exact bytes and the clock.",
    429: "Too many requests.",
}
