"""Calls of an adapter to its gateway: JSON in and out, exact decimals, and one error for each remedy."""

import base64
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from decimal import Decimal
from json import JSONDecodeError, dumps, loads
from typing import Any
from urllib.parse import urlencode, urlsplit

import orjson

import settings
from adapters import http_calls
from adapters.gateways.base import CredentialsRefused, GatewayBusy, GatewayRejected, GatewayUnreachable
from adapters.safe_http import addresses, brand_hosts, client

Params = Mapping[str, str | int | Sequence[str]]
_Answered = tuple[int, Mapping[str, str], bytes]

_CALL_S = 15
_WORDS = 300
_GONE = (404, 410)
_WORDS_UNDER = (
    "message",
    "detail",
    "error_description",
    "error_msg",
    "error",
    "errors",
    "title",
    "api_error_response",
)


@dataclass(frozen=True, slots=True)
class GatewayAnswer:
    """An answer that is no error: its JSON (None without a body) and its headers, found by any case."""

    json: Any
    headers: Mapping[str, str]


class CallNotAllowed(Exception):
    """The block needs a call to the gateway, but runs in `without_calls`."""


_calls_allowed: ContextVar[bool] = ContextVar("calls_allowed", default=True)


@contextmanager
def without_calls() -> Iterator[None]:
    """Run a block in which calls to gateways are not made: they raise CallNotAllowed."""
    before = _calls_allowed.set(False)
    try:
        yield
    finally:
        _calls_allowed.reset(before)


@contextmanager
def ignoring_missing_object() -> Iterator[None]:
    """End a block without an error if the gateway reports that the object of the call does not exist (404, 410)."""
    try:
        yield
    except GatewayRejected as error:
        if error.status not in _GONE:
            raise


class AccountApi:
    """The API of one account at an address, whose scheme and host `replacement` replaces; the path stays.

    `is_brands_host`: the brand typed the host, so only public addresses are called, unless it is replaced. It can be
    thrown away: no connection stays open.
    """

    unreachable: Callable[[str], Exception] = GatewayUnreachable

    def __init__(
        self, replacement: str | None, address: str, headers: Mapping[str, str], *, is_brands_host: bool = False
    ) -> None:
        self._is_brands_host = is_brands_host and not replacement
        self._address = f"{replacement}{urlsplit(address).path}" if replacement else address
        if not all(value.isascii() and value.isprintable() for value in headers.values()):
            raise CredentialsRefused("they have characters that cannot be sent")
        self._headers = {"Accept": "application/json", "User-Agent": "finderfee", **headers}

    def _send(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes | None, **timeouts_s: float
    ) -> _Answered:
        """Return status, headers and body of an answer. Raises CredentialsRefused and as `unreachable`."""
        try:
            if self._is_brands_host:
                return brand_hosts.call(method, url, headers, body, timeout_s=max(1, round(sum(timeouts_s.values()))))
            return http_calls.call(method, url, headers, body, **timeouts_s)
        except http_calls.NoAnswer as error:
            raise self.unreachable(str(error)) from error
        except client.ReceiverUnreachable as error:
            raise self.unreachable(error.reason) from error
        except addresses.UrlRefused as refused:
            raise CredentialsRefused(refused.message) from refused
        except brand_hosts.CannotBeSent as error:
            raise CredentialsRefused("they hold characters that cannot be sent") from error


class GatewayApi(AccountApi):
    """The API of one account at one gateway. `reads` parses its answers, where they are not JSON.

    API_ADDRESSES replaces scheme and host of `address`.
    """

    def __init__(
        self,
        gateway: str,
        address: str,
        headers: Mapping[str, str],
        *,
        is_brands_host: bool = False,
        reads: Callable[[bytes], Any] | None = None,
    ) -> None:
        super().__init__(
            settings.current().addresses.apis.get(gateway), address, headers, is_brands_host=is_brands_host
        )
        self._reads = reads or parse_json

    def get(self, path: str, params: Params | None = None) -> Any:
        """Return the JSON at a path. Raises as `request`."""
        return self.request("GET", path, params=params).json

    def find(self, path: str, params: Params | None = None) -> Any | None:
        """Return the JSON at a path, None if the gateway has nothing there. Raises the same errors as `request`."""
        try:
            return self.get(path, params)
        except GatewayRejected as error:
            if error.status in _GONE:
                return None
            raise

    def delete(self, path: str) -> None:
        """Delete the object at a path, if it still exists. Raises the same errors as `request`."""
        with ignoring_missing_object():
            self.request("DELETE", path)

    def request(
        self,
        method: str,
        path: str,
        *,
        params: Params | None = None,
        json: object = None,
        form: Params | None = None,
        content: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> GatewayAnswer:
        """Make one call, once. `content` is sent as it is, under the Content-Type of `headers`.

        Raises CredentialsRefused (401, 403), GatewayUnreachable (no usable answer, 5xx; GatewayBusy for 429) and
        GatewayRejected; and CallNotAllowed in a block of `without_calls`.
        """
        if not _calls_allowed.get():
            raise CallNotAllowed
        all_headers = {**self._headers, **(headers or {})}
        body = content
        if json is not None:
            body, all_headers["Content-Type"] = orjson.dumps(json), all_headers.get("Content-Type", "application/json")
        elif form is not None:
            body, all_headers["Content-Type"] = _form(form).encode(), "application/x-www-form-urlencoded"
        url = self._address + path + (f"?{_form(params)}" if params else "")
        status, answer_headers, answer = self._send(method, url, all_headers, body, timeout_s=_CALL_S)
        return GatewayAnswer(_read(status, answer, self._reads), answer_headers)


def basic(user: str, password: str = "") -> Mapping[str, str]:
    """Return the header of HTTP Basic authentication."""
    return {"Authorization": f"Basic {base64.b64encode(f'{user}:{password}'.encode()).decode()}"}


def bearer(token: str) -> Mapping[str, str]:
    """Return the header that brings a bearer token."""
    return {"Authorization": f"Bearer {token}"}


def parse_json(content: bytes) -> Any:
    """Return the value of JSON with its decimals exact.

    Raises ValueError, also for JSON that is nested too deep and for a number with an exponent beyond `Decimal`.
    """
    try:
        orjson.loads(content)  # refuses other text and deep nesting quickly; but its decimals are floats
        return loads(content, parse_float=Decimal)
    except (JSONDecodeError, RecursionError, UnicodeDecodeError, ArithmeticError) as error:
        raise ValueError("this is not JSON") from error


def serialize(value: object) -> bytes:
    """Return the JSON of a parsed value; decimals stay as they were written."""
    return dumps(value, default=str).encode()


def _read(status: int, content: bytes, reads: Callable[[bytes], Any]) -> Any:
    try:
        answer = reads(content) if content.strip() else None
    except ValueError as error:
        if status < 300:
            raise GatewayUnreachable(f"the answer with {status} cannot be read") from error
        answer = None
    if status < 300:
        return answer
    words = words_of(answer) or f"it answers {status}"
    if status in (401, 403):
        code = answer.get("code") if isinstance(answer, dict) else None
        raise CredentialsRefused(words, code if isinstance(code, str) else "")
    if status == 429:
        raise GatewayBusy(f"it answers {status}")
    if status >= 500 or status < 400:
        raise GatewayUnreachable(f"it answers {status}")
    raise GatewayRejected(status, words)


def words_of(answer: Any) -> str:
    """Return the first text in an error's body under a name that errors use."""
    if isinstance(answer, str):
        return answer[:_WORDS]
    if isinstance(answer, list):
        return next((words for part in answer if (words := words_of(part))), "")
    if isinstance(answer, dict):
        for name in _WORDS_UNDER:
            if words := words_of(answer.get(name)):
                return words
    return ""


def _form(params: Params | None) -> str:
    return urlencode(params or {}, doseq=True)
