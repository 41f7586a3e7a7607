"""Landing pages as HTML: for visitors, and as a preview for their brand.

Responses are not cached: each form has an Idempotency-Key of its own, and a change or an end of the campaign must be
visible at once. Cached is only the filled template by a hash of its content, which is read from the database each time:
a changed page is another entry at once, in every process, and an ended one is not requested any more.
"""

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

import orjson
from flask import Response

import settings
from api.edge import compression
from api.storefront.landing_page import LandingPage
from pages import documents, forms, static_files
from pages.forms import FormState
from pages.hosted.landing import theme

_OWN_ORIGIN = "'self'"
_POLICY = {"style-src": _OWN_ORIGIN, "img-src": _OWN_ORIGIN}
# Above this size a page is compressed: twenty long sections in a non-Latin script exceed the budget of a page.
_LONG_BYTES = 16 * 1024
# About 1,500 pages; the limits of a brand's texts bound the size of each.
_MAX_CACHE_BYTES = 8 * 1024 * 1024


class PageCache:
    """A cache of this process's most recently requested pages, up to `max_bytes`. Thread-safe."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes, self._bytes = max_bytes, 0
        self._lock = threading.Lock()
        self._parts_by_key: OrderedDict[bytes, tuple[bytes, bytes]] = OrderedDict()

    def get_or_write(self, content_hash: bytes, write: Callable[[str], str]) -> bytes:
        """Return a page with a new form key; `write` renders it with a key, which must occur in it once.

        `content_hash` covers everything that `write` depends on, except the key.
        """
        key = forms.new_key()
        with self._lock:
            parts = self._parts_by_key.get(content_hash)
            if parts is not None:
                self._parts_by_key.move_to_end(content_hash)
        if parts is None:
            before, after = write(key).split(key)
            parts = before.encode(), after.encode()
            self._store(content_hash, parts)
        return key.encode().join(parts)

    def _store(self, content_hash: bytes, parts: tuple[bytes, bytes]) -> None:
        with self._lock:
            if content_hash in self._parts_by_key:  # another thread stored it first
                return
            self._parts_by_key[content_hash] = parts
            self._bytes += sum(map(len, parts))
            while self._bytes > self._max_bytes:
                _, evicted = self._parts_by_key.popitem(last=False)
                self._bytes -= sum(map(len, evicted))


_PAGE_CACHE = PageCache(_MAX_CACHE_BYTES)


def render_landing_page(
    page: LandingPage,
    *,
    status: int = 200,
    form: FormState = forms.EMPTY,
    recruiter: str = "",
    is_applied: bool = False,
    is_preview: bool = False,
) -> Response:
    """Return the page. `recruiter` is the affiliate who sent the visitor; the form of a preview sends nothing."""

    def write(key: str) -> str:
        return _render_html(page, form=form, key=key, recruiter=recruiter, is_applied=is_applied, is_preview=is_preview)

    if form is forms.EMPTY and not (recruiter or is_applied or is_preview):
        html: str | bytes = _PAGE_CACHE.get_or_write(_content_hash(page), write)
    else:
        html = write(forms.new_key())
    return _finish(documents.html_response(html, status=status, allows=_POLICY), page.record, is_preview)


def _content_hash(page: LandingPage) -> bytes:
    """Return a hash of everything that a page shows, which is in its record and the other values here."""
    content = [page.record, page.earns, page.color, page.path, page.address, settings.current().web.url]
    return hashlib.blake2b(orjson.dumps(content), digest_size=32).digest()


def _render_html(
    page: LandingPage, *, form: FormState, key: str, recruiter: str, is_applied: bool, is_preview: bool
) -> str:
    record = page.record
    return documents.render_html(
        "hosted/landing/page.html",
        static=static_files.url,
        new_key=lambda: key,
        here=page.path,
        form=form,
        page=page,
        record=record,
        said=page.texts,
        style=theme.url(page.color),
        logo=_own_path(record["logoUrl"]),
        icon=_own_path(record["faviconUrl"]) or _own_path(record["logoUrl"]),
        hero=_own_path(page.texts["heroImageUrl"]),
        sign_in=f"{settings.current().web.url}/sign-in",
        recruiter=recruiter,
        is_applied=is_applied,
        is_preview=is_preview,
        is_found=record["isPubliclyDiscoverable"] and not is_preview,
    )


def render_not_found() -> Response:
    """Return the page for an unknown address: the same for all, so that it reveals nothing about a brand."""
    answer = documents.render_page(
        "hosted/landing/nothing.html", status=404, allows=_POLICY, static=static_files.url, style=theme.url(None)
    )
    answer.vary.add("Cookie")
    return answer


def _finish(answer: Response, record: Mapping[str, Any], is_preview: bool) -> Response:
    if record["isPubliclyDiscoverable"] and not is_preview:
        del answer.headers["X-Robots-Tag"]
    answer.headers["Vary"] = "Cookie, Accept-Encoding"
    if (answer.calculate_content_length() or 0) >= _LONG_BYTES and compression.accepts_gzip():
        compression.set_compressed_body(answer, compression.compress_bytes(answer.get_data()))
    return answer


def _own_path(url: str | None) -> str | None:
    """Return the path alone: a page loads files of its own origin only, on every host."""
    return urlsplit(url).path if url else None
