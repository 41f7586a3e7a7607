"""How an adapter calls its gateway: JSON in and out, decimals exact, and errors that say what to do about them.

A gateway that speaks another language brings what reads it.
"""

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
from adapters.safe_http import addresses, client, typed_hosts

Params = Mapping[str, str | int | Sequence[str]]
_Answered = tuple[int, Mapping[str, str], bytes]

_CALL_S = 15
_WORDS = 300
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


class WouldAsk(Exception):
    """The gateway would have been asked, where nobody may be."""


_may_ask: ContextVar[bool] = ContextVar("may_ask", default=True)


@contextmanager
def unasked() -> Iterator[None]:
    """Let no gateway be asked in a block: what would be asked there raises WouldAsk."""
    before = _may_ask.set(False)
    try:
        yield
    finally:
        _may_ask.reset(before)


class GatewayWire:
    """The API of one account at one gateway. Safe to throw away: nothing is kept open.

    `GATEWAY_<NAME>_URL` replaces scheme and host of `address`; the path stays. `is_typed` says that the brand typed
    the host: unless it is replaced, only public addresses are called.
    """

    def __init__(
        self,
        gateway: str,
        address: str,
        headers: Mapping[str, str],
        *,
        is_typed: bool = False,
        reads: Callable[[bytes], Any] | None = None,
    ) -> None:
        place = settings.current().gateways.urls.get(gateway)
        self._call = _call_typed if is_typed and not place else _call
        self._address = f"{place}{urlsplit(address).path}" if place else address
        if not all(value.isascii() and value.isprintable() for value in headers.values()):
            raise CredentialsRefused("they have characters that cannot be sent")
        self._headers = {"Accept": "application/json", "User-Agent": "finderfee", **headers}
        self._reads = reads or parsed

    def get(self, path: str, params: Params | None = None) -> Any:
        """Return the JSON at a path. Raises as `ask`."""
        return self.ask("GET", path, params=params).json

    def find(self, path: str, params: Params | None = None) -> Any | None:
        """Return the JSON at a path, or None when the gateway has nothing there. Raises as `ask`."""
        try:
            return self.get(path, params)
        except GatewayRejected as error:
            if error.status in (404, 410):
                return None
            raise

    def drop(self, path: str) -> None:
        """Delete what is at a path; what is gone already is well. Raises as `ask`."""
        try:
            self.ask("DELETE", path)
        except GatewayRejected as error:
            if error.status not in (404, 410):
                raise

    def ask(
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
        """Ask one thing, once. `content` is sent as it is, under the Content-Type of `headers`.

        Raises CredentialsRefused (401, 403), GatewayUnreachable (no usable answer, 5xx; GatewayBusy for 429) and
        GatewayRejected; and WouldAsk in a block that is `unasked`.
        """
        if not _may_ask.get():
            raise WouldAsk
        sent = {**self._headers, **(headers or {})}
        body = content
        if json is not None:
            body, sent["Content-Type"] = orjson.dumps(json), sent.get("Content-Type", "application/json")
        elif form is not None:
            body, sent["Content-Type"] = _form(form).encode(), "application/x-www-form-urlencoded"
        url = self._address + path + (f"?{_form(params)}" if params else "")
        status, said_headers, answer = self._call(method, url, sent, body)
        return GatewayAnswer(_read(status, answer, self._reads), said_headers)


def basic(user: str, password: str = "") -> Mapping[str, str]:
    """Return the header of HTTP Basic authentication."""
    return {"Authorization": f"Basic {base64.b64encode(f'{user}:{password}'.encode()).decode()}"}


def bearer(token: str) -> Mapping[str, str]:
    """Return the header that brings a bearer token."""
    return {"Authorization": f"Bearer {token}"}


def parsed(content: bytes) -> Any:
    """Return the value of JSON with its decimals exact. Raises ValueError, also for JSON that is nested too deep."""
    try:
        orjson.loads(content)  # refuses what is no JSON or too deep, quickly; but its decimals are floats
        return loads(content, parse_float=Decimal)
    except (JSONDecodeError, RecursionError, UnicodeDecodeError) as error:
        raise ValueError("this is not JSON") from error


def dumped(value: object) -> bytes:
    """Return JSON of what `parsed` returned; decimals stay as they were written."""
    return dumps(value, default=str).encode()


def _call(method: str, url: str, headers: Mapping[str, str], body: bytes | None) -> _Answered:
    try:
        return http_calls.call(method, url, headers, body, timeout_s=_CALL_S)
    except http_calls.NoAnswer as error:
        raise GatewayUnreachable(str(error)) from error


def _call_typed(method: str, url: str, headers: Mapping[str, str], body: bytes | None) -> _Answered:
    try:
        return typed_hosts.ask(method, url, headers, body, timeout_s=_CALL_S)
    except addresses.UrlRefused as refused:
        raise CredentialsRefused(refused.message) from refused
    except client.ReceiverUnreachable as error:
        raise GatewayUnreachable(error.reason) from error
    except typed_hosts.CannotBeSent as error:
        raise CredentialsRefused("they hold characters that cannot be sent") from error


def _read(status: int, content: bytes, reads: Callable[[bytes], Any]) -> Any:
    try:
        said = reads(content) if content.strip() else None
    except ValueError as error:
        if status < 300:
            raise GatewayUnreachable(f"the answer with {status} cannot be read") from error
        said = None
    if status < 300:
        return said
    words = words_of(said) or f"it answers {status}"
    if status in (401, 403):
        code = said.get("code") if isinstance(said, dict) else None
        raise CredentialsRefused(words, code if isinstance(code, str) else "")
    if status == 429:
        raise GatewayBusy(f"it answers {status}")
    if status >= 500 or status < 400:
        raise GatewayUnreachable(f"it answers {status}")
    raise GatewayRejected(status, words)


def words_of(said: Any) -> str:
    """Return the first text in an error's body under a name that errors use."""
    if isinstance(said, str):
        return said[:_WORDS]
    if isinstance(said, list):
        return next((words for part in said if (words := words_of(part))), "")
    if isinstance(said, dict):
        for name in _WORDS_UNDER:
            if words := words_of(said.get(name)):
                return words
    return ""


def _form(params: Params | None) -> str:
    return urlencode(params or {}, doseq=True)
