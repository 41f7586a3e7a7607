"""Fetches a page of a brand's site: GET, a few redirects, each checked like the first URL, the start of its body.

It takes at most `_TIME_LIMIT_S`, and few run at a time, because a web server has few threads.
"""

import codecs
import math
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urldefrag, urljoin

from adapters.safe_http import brand_hosts, client

#: The maximum number of bytes read of a page.
MAX_READ_BYTES = 512 * 1024

_TIME_LIMIT_S = 8.0
_MAX_REDIRECTS = 5
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_slots = threading.BoundedSemaphore(2)
_REQUEST_HEADERS = {"Accept": "text/html,application/xhtml+xml", "User-Agent": "Finderfee-Install-Check/1"}
_HTML = ("text/html", "application/xhtml+xml")


class PageNotRead(Exception):
    """The page could not be fetched, or is not HTML. `reason` is a short sentence for the user."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class TooManyAtOnce(Exception):
    """This process is already fetching the maximum number of pages."""


@dataclass(frozen=True, slots=True)
class FetchedPage:
    """A fetched page: `url` is the end of its redirects, `size` the bytes of its body up to MOST_READ.

    `headers` are case-insensitive; `took_ms` is the total time of all its requests.
    """

    url: str
    headers: Mapping[str, str]
    html: str
    size: int
    took_ms: int


def fetch(url: str) -> FetchedPage:
    """Return the page at a URL that a user typed.

    Raises addresses.UrlRefused before any packet to a forbidden address, PageNotRead and TooManyAtOnce.
    """
    with _fetch_slot():
        began = time.monotonic()
        address, headers, content = _follow_redirects(url, until=began + _TIME_LIMIT_S)
        took_ms = round((time.monotonic() - began) * 1000)
    kind = headers.get("Content-Type", "text/html").partition(";")[0].strip().lower()
    if kind not in _HTML:
        raise PageNotRead("The URL does not lead to an HTML page.")
    if headers.get("Content-Encoding", "identity").strip().lower() not in ("", "identity"):
        raise PageNotRead("The page was sent compressed, although that was not requested.")
    body = content[:MAX_READ_BYTES]
    return FetchedPage(address, headers, _decode(body), len(body), took_ms)


def _follow_redirects(url: str, *, until: float) -> tuple[str, Mapping[str, str], bytes]:
    address = urldefrag(url).url
    for _ in range(_MAX_REDIRECTS + 1):
        status, headers, content = _get(address, until)
        if status not in _REDIRECTS:
            break
        address = _next_url(address, headers.get("Location", ""))
    else:
        raise PageNotRead(f"The page redirects more than {_MAX_REDIRECTS} times.")
    if status != 200:
        raise PageNotRead(f"The page responded with status {status}.")
    return address, headers, content


def _get(address: str, until: float) -> tuple[int, Mapping[str, str], bytes]:
    left_s = until - time.monotonic()
    if left_s <= 0:
        raise PageNotRead(f"The page did not load within {_TIME_LIMIT_S:.0f} seconds.")
    try:
        return brand_hosts.get_once(address, _REQUEST_HEADERS, timeout_s=math.ceil(left_s))
    except client.ReceiverUnreachable as error:
        raise PageNotRead(f"The page could not be read: {error.reason}.") from error


def _next_url(address: str, location: str) -> str:
    try:
        return urldefrag(urljoin(address, location)).url if location else address
    except ValueError as error:
        raise PageNotRead("The page redirects to an invalid URL.") from error


def _decode(content: bytes) -> str:
    """Return the text. Tags are the same bytes in every encoding except UTF-16, which has a byte order mark.

    NUL becomes the replacement character, as in browsers.
    """
    is_wide = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return content.decode("utf-16" if is_wide else "utf-8", "replace").replace("\0", "\N{REPLACEMENT CHARACTER}")


@contextmanager
def _fetch_slot() -> Iterator[None]:
    if not _slots.acquire(blocking=False):
        raise TooManyAtOnce
    try:
        yield
    finally:
        _slots.release()
