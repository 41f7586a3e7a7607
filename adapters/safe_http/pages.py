"""Fetch a page of a brand's site: GET, a few redirects, each vetted like the first address, the first part of its body.

Nobody is waited for longer than `_IN_ALL_S`, and few at a time: a web server's threads are few.
"""

import codecs
import math
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urldefrag, urljoin

from adapters.safe_http import client, typed_hosts

#: How much of a page is read, in bytes.
MOST_READ = 512 * 1024

_IN_ALL_S = 8.0
_MOST_REDIRECTS = 5
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_AT_ONCE = threading.BoundedSemaphore(2)
_SENT = {"Accept": "text/html,application/xhtml+xml", "User-Agent": "Finderfee-Install-Check/1"}
_HTML = ("text/html", "application/xhtml+xml")


class PageNotRead(Exception):
    """The page did not come, or came as something else. `reason` is a short sentence in our own words."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class TooManyAtOnce(Exception):
    """Other pages are being fetched by this process."""


@dataclass(frozen=True, slots=True)
class FetchedPage:
    """A page as it came: `url` is where the redirects ended, `size` counts bytes of its body up to MOST_READ.

    `headers` are found by any case; `took_ms` is the time of all requests for it together.
    """

    url: str
    headers: Mapping[str, str]
    html: str
    size: int
    took_ms: int


def fetch(url: str) -> FetchedPage:
    """Return the page at a URL that somebody typed.

    Raises addresses.UrlRefused before any packet to the address that is not allowed, PageNotRead and TooManyAtOnce.
    """
    with _turn():
        began = time.monotonic()
        address, headers, content = _followed(url, until=began + _IN_ALL_S)
        took_ms = round((time.monotonic() - began) * 1000)
    kind = headers.get("Content-Type", "text/html").partition(";")[0].strip().lower()
    if kind not in _HTML:
        raise PageNotRead("What is there is no HTML page.")
    if headers.get("Content-Encoding", "identity").strip().lower() not in ("", "identity"):
        raise PageNotRead("It came compressed, although that was not asked for.")
    read = content[:MOST_READ]
    return FetchedPage(address, headers, _decoded(read), len(read), took_ms)


def _followed(url: str, *, until: float) -> tuple[str, Mapping[str, str], bytes]:
    address = urldefrag(url).url
    for _ in range(_MOST_REDIRECTS + 1):
        status, headers, content = _asked(address, until)
        if status not in _REDIRECTS:
            break
        address = _next(address, headers.get("Location", ""))
    else:
        raise PageNotRead(f"It redirects more than {_MOST_REDIRECTS} times.")
    if status != 200:
        raise PageNotRead(f"The page answers with status {status}.")
    return address, headers, content


def _asked(address: str, until: float) -> tuple[int, Mapping[str, str], bytes]:
    left_s = until - time.monotonic()
    if left_s <= 0:
        raise PageNotRead(f"It was not there within {_IN_ALL_S:.0f} seconds.")
    try:
        return typed_hosts.look(address, _SENT, timeout_s=math.ceil(left_s))
    except client.ReceiverUnreachable as error:
        raise PageNotRead(f"It could not be read: {error.reason}.") from error


def _next(address: str, location: str) -> str:
    try:
        return urldefrag(urljoin(address, location)).url if location else address
    except ValueError as error:
        raise PageNotRead("It redirects to an address that is none.") from error


def _decoded(content: bytes) -> str:
    """Return the text; what a tag is written in is the same in every encoding but UTF-16, which has a mark.

    A NUL is what browsers make of it.
    """
    is_wide = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return content.decode("utf-16" if is_wide else "utf-8", "replace").replace("\0", "\N{REPLACEMENT CHARACTER}")


@contextmanager
def _turn() -> Iterator[None]:
    if not _AT_ONCE.acquire(blocking=False):
        raise TooManyAtOnce
    try:
        yield
    finally:
        _AT_ONCE.release()
