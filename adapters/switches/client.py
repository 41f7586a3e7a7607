"""One request to a source, through the guarded HTTP client, and one error for each remedy.

No message has a header or a query. Bodies arrive uncompressed and are limited while they are read.
Source: the switch-over rules, "Jobs" and "Secrets and people's data".
"""

import atexit
import functools
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode, urljoin, urlsplit

import settings
from adapters.gateways.base import CredentialsRefused
from adapters.gateways.wire import parse_json
from adapters.safe_http import addresses, client
from adapters.switches.base import Source, SourceRequest, SourceResponse

#: Seconds for one request while reading, and for the one that proves credentials while a person waits.
READ_TIMEOUT_S, CONNECT_TIMEOUT_S = 30, 10
_MAX_BYTES = 16 * 1024 * 1024
_MAX_REDIRECTS = 3
_REDIRECTS = (301, 302, 303, 307, 308)
# Half of a character pair, which is no text; preceded by an even number of backslashes.
_LONE_SURROGATE = re.compile(
    rb"(?<!\\)((?:\\\\)*)(\\u[dD][89aAbB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})|(?<!\\)((?:\\\\)*)\\u[dD][89a-fA-F][0-9a-fA-F]{2}"
)


class SourceUnreachable(Exception):
    """No usable answer: worth another try. `headers` may tell when."""

    def __init__(self, reason: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(reason)
        self.headers = headers or {}


class SourceBusy(Exception):
    """The source had too many requests (429). `headers` may tell when to ask again; they are found by any case."""

    def __init__(self, headers: Mapping[str, str]) -> None:
        super().__init__("it answers 429")
        self.headers = headers


class SourceLacksList(Exception):
    """The source answers 404, or refuses the query (400, 422): it does not know the list, or a filter of it."""


class AnswerTooLarge(Exception):
    """The answer is larger than 16 MiB."""


def fetch(
    source: Source, credentials: Mapping[str, str], request: SourceRequest, *, timeout_s: int = READ_TIMEOUT_S
) -> SourceResponse:
    """Return the answer to one GET, with its decimals exact.

    Raises CredentialsRefused (401, 403), SourceBusy, SourceLacksList, AnswerTooLarge and SourceUnreachable (all else).
    """
    replacement = settings.current().switches.base_urls.get(source.info.name)
    address = f"{replacement}{urlsplit(source.info.address).path}" if replacement else source.info.address
    query = f"?{urlencode(request.query, doseq=True)}" if request.query else ""
    headers = {"Accept": "application/json", "User-Agent": "finderfee", **source.headers(credentials)}
    if not all(value.isascii() and value.isprintable() for value in headers.values()):
        raise CredentialsRefused("they have characters that cannot be sent")
    status, answer_headers, content = _get(
        _client(_policy(is_replaced=bool(replacement), timeout_s=timeout_s)), address + request.path + query, headers
    )
    _check_status(status, answer_headers)
    if answer_headers.get("Content-Encoding", "identity").strip().lower() not in ("", "identity"):
        raise SourceUnreachable("the answer is compressed, which was not asked for")
    return SourceResponse(status, answer_headers, _parse(content))


def _get(http_client: client.Client, url: str, headers: Mapping[str, str]) -> tuple[int, Mapping[str, str], bytes]:
    """Return the answer after redirects to the same host, which alone may have the credentials."""
    for _ in range(_MAX_REDIRECTS + 1):
        status, answer_headers, content = _send(http_client, url, headers)
        location = answer_headers.get("Location")
        if status not in _REDIRECTS or not location:
            return status, answer_headers, bytes(content)
        try:
            target = urljoin(url, location)
            is_same_host = _origin(target) == _origin(url)
        except ValueError as error:
            raise SourceUnreachable("it redirects to an invalid address") from error
        if not is_same_host:
            raise SourceUnreachable("it redirects to another host")
        url = target
    raise SourceUnreachable("it redirects too often")


def _send(http_client: client.Client, url: str, headers: Mapping[str, str]) -> tuple[int, Mapping[str, str], bytearray]:
    try:
        return http_client.ask("GET", url, body=b"", headers=headers)
    except client.ResponseTooLarge as error:
        raise AnswerTooLarge("the answer has more than 16 MiB") from error
    except client.ReceiverUnreachable as error:
        raise SourceUnreachable(error.reason) from error
    except addresses.UrlRefused as refused:
        raise SourceUnreachable(f"its address cannot be called: {refused.message}") from refused
    except ValueError as error:
        raise CredentialsRefused("they have characters that cannot be sent") from error


def _check_status(status: int, headers: Mapping[str, str]) -> None:
    if status in (401, 403):
        raise CredentialsRefused(f"it answers {status}")
    if status in (400, 404, 422):
        raise SourceLacksList(f"it answers {status}")
    if status == 429:
        raise SourceBusy(headers)
    if status != 200:
        raise SourceUnreachable(f"it answers {status}", headers)


def _parse(content: bytes) -> Any:
    try:
        return parse_json(content)
    except ValueError:
        pass
    try:
        return parse_json(_LONE_SURROGATE.sub(_replace_lone, content))
    except ValueError as error:
        raise SourceUnreachable("the answer is not JSON") from error


def _replace_lone(match: re.Match[bytes]) -> bytes:
    return match[0] if match[2] else match[3] + b"\\ufffd"


def _origin(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme.lower(), parts.netloc.lower()


def _policy(*, is_replaced: bool, timeout_s: int) -> client.Policy:
    return client.Policy(
        allow_private=is_replaced,
        ca_bundle=settings.current().webhooks.ca_bundle,
        timeout_s=timeout_s,
        max_read_bytes=_MAX_BYTES,
        refuses_larger=True,
    )


@functools.cache
def _client(policy: client.Policy) -> client.Client:
    http_client = client.Client(policy)
    atexit.register(http_client.close)
    return http_client
