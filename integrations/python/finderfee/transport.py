"""Sends calls: headers, signatures, retries, and parsing of responses."""

from __future__ import annotations

import http.client
import json
import random
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Callable, Optional
from urllib.parse import quote, urlencode

from . import signing
from .errors import ApiError, ConnectionFailed
from .version import VERSION

#: Temporary failures: too many requests, and a service or its proxy that is not ready.
_PASSING = frozenset({429, 502, 503, 504})
_FIRST_WAIT_S = 0.5
_LONGEST_WAIT_S = 8.0
#: Maximum sum of all waits of a call. A signature is valid for 300 seconds, and all attempts share one.
_WAITS_S = 60.0


@dataclass(frozen=True)
class Answer:
    """A response: status, headers by lower-case name, body."""

    status: int
    headers: Mapping[str, str]
    body: bytes


#: Called with method, URL, headers, body and timeout in seconds. Raises OSError without a response.
Send = Callable[[str, str, Mapping[str, str], Optional[bytes], float], Answer]


class Transport:
    """Calls one installation with one API key. Any number of threads may share it."""

    def __init__(
        self,
        base_url: str,
        api_key: str,
        signing_secret: str | None,
        *,
        timeout_s: float,
        retries: int,
        send: Send | None = None,
    ) -> None:
        if not base_url.startswith(("https://", "http://")):
            raise ValueError("base_url must start with https://")
        self._base_url = base_url.rstrip("/")
        self._api_key = api_key
        self._signer = signing.Signer(signing_secret) if signing_secret else None
        self._timeout_s = timeout_s
        self._retries = retries
        self._send = send or _by_urllib

    def __repr__(self) -> str:
        return f"Transport({self._base_url!r})"  # no key or secret in logs

    def call(
        self,
        method: str,
        path: str,
        *,
        values: Mapping[str, Any] | None = None,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        idempotency_key: str | None = None,
        is_signed: bool = False,
    ) -> Any:
        """Call an operation; return its response: JSON, else text or bytes, None without a body.

        values: path parameters. query: query parameters; those that are None are omitted.

        Raises ApiError if the service refuses, ConnectionFailed without a response. 429, 503 and lost connections are
        retried; each call has an Idempotency-Key, so that a POST, PUT or PATCH is executed only once.
        """
        raw = None if body is None else _to_json(body)
        headers = {
            "Authorization": f"Bearer {self._api_key}",
            "Accept": "application/json",
            "User-Agent": f"finderfee-python/{VERSION}",
        }
        if raw is not None:
            headers["Content-Type"] = "application/json"
        if method in ("POST", "PUT", "PATCH"):
            headers["Idempotency-Key"] = idempotency_key or str(uuid.uuid4())
        if is_signed:
            headers["X-Service-Signature"] = self._signature(raw or b"")
        return self._send_with_retries(
            method, f"{self._base_url}{_address(path, values or {}, query or {})}", headers, raw
        )

    def _signature(self, raw: bytes) -> str:
        if self._signer is None:
            raise ValueError("a signed call needs signing_secret, which belongs to the API key")
        return self._signer.header(raw)

    def _send_with_retries(self, method: str, url: str, headers: Mapping[str, str], raw: bytes | None) -> Any:
        waited_s = 0.0
        for attempt in range(self._retries + 1):
            try:
                answer = self._send(method, url, headers, raw, self._timeout_s)
            except (OSError, http.client.HTTPException) as error:
                failure: ApiError | ConnectionFailed = ConnectionFailed(f"{method} {url}: {error}")
                failure.__cause__ = error
            else:
                if 200 <= answer.status < 300:
                    return _read(answer)
                failure = _refusal(answer)
                if not _is_passing(failure, attempt):
                    raise failure
            wait_s = _wait_s(failure, attempt)
            if attempt == self._retries or waited_s + wait_s > _WAITS_S:
                raise failure
            time.sleep(wait_s)
            waited_s += wait_s
        raise AssertionError("retries must not be negative")


def _is_passing(refusal: ApiError, attempt: int) -> bool:
    # The first attempt, whose response was lost, may still be executing under the same key.
    is_at_work = attempt > 0 and refusal.code == "idempotency_conflict"
    return refusal.status in _PASSING or is_at_work


def _wait_s(failure: ApiError | ConnectionFailed, attempt: int) -> float:
    if isinstance(failure, ApiError) and failure.retry_after_s is not None:
        return failure.retry_after_s
    longest_s = min(_LONGEST_WAIT_S, _FIRST_WAIT_S * 2.0**attempt)
    return longest_s * random.uniform(0.5, 1)  # noqa: S311  # so that clients do not retry at the same time


def _to_json(body: Any) -> bytes:
    return json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def _address(path: str, values: Mapping[str, Any], query: Mapping[str, Any]) -> str:
    for name, value in values.items():
        if value in ("", None, ".", ".."):
            raise ValueError(f"{name} is required")  # the path would be another operation's
        path = path.replace(f"{{{name}}}", quote(str(value), safe=""))
    parameters = {name: _query_text(value) for name, value in query.items() if value is not None}
    return f"{path}?{urlencode(parameters)}" if parameters else path


def _query_text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _read(answer: Answer) -> Any:
    if not answer.body:
        return None
    media_type = answer.headers.get("content-type", "")
    if "json" in media_type:
        return json.loads(answer.body)
    return answer.body.decode() if media_type.startswith("text/") else answer.body


def _refusal(answer: Answer) -> ApiError:
    try:
        body = json.loads(answer.body) if "json" in answer.headers.get("content-type", "") else None
    except ValueError:
        body = None
    return ApiError(
        answer.status,
        body=body,
        request_id=answer.headers.get("x-request-id"),
        retry_after_s=_seconds(answer.headers.get("retry-after")),
    )


def _seconds(text: str | None) -> float | None:
    return float(text) if text is not None and text.isascii() and text.isdigit() else None


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        """Follow no redirect: the key would be sent there."""


_opener = urllib.request.build_opener(_NoRedirect)


def _by_urllib(method: str, url: str, headers: Mapping[str, str], body: bytes | None, timeout_s: float) -> Answer:
    # Only http and https: `Transport` has checked it.
    request = urllib.request.Request(url, data=body, headers=dict(headers), method=method)  # noqa: S310
    try:
        with _opener.open(request, timeout=timeout_s) as response:
            return Answer(response.status, _lower_names(response.headers), response.read())
    except urllib.error.HTTPError as error:
        with error:
            return Answer(error.code, _lower_names(error.headers), error.read())


def _lower_names(headers: Any) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}
