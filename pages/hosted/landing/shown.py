"""A landing page as it looks: for strangers, and for its brand before strangers see it.

No answer is kept anywhere, though everybody sees the same: its form has a key of its own that stands for one
application, and what a brand changes or ends is to be seen at once. Kept is what the same words were written as before.
"""

import hashlib
from collections.abc import Mapping
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
from pages.hosted.landing.written import PAGES

_OWN = "'self'"
_ALLOWED = {"style-src": _OWN, "img-src": _OWN}
# Twenty long sections in another script than ours weigh more than a page may.
_LONG_BYTES = 16 * 1024


def landing(
    page: LandingPage,
    *,
    status: int = 200,
    form: FormState = forms.EMPTY,
    recruiter: str = "",
    is_applied: bool = False,
    is_preview: bool = False,
) -> Response:
    """Return the page. `recruiter` is who sent the visitor; a preview has a form that sends nothing."""

    def write(key: str) -> str:
        return _filled(page, form=form, key=key, recruiter=recruiter, is_applied=is_applied, is_preview=is_preview)

    if form is forms.EMPTY and not (recruiter or is_applied or is_preview):
        said: str | bytes = PAGES.page(_known_by(page), write)
    else:
        said = write(forms.new_key())
    return _settled(documents.html_response(said, status=status, allows=_ALLOWED), page.record, is_preview)


def _known_by(page: LandingPage) -> bytes:
    """Return what tells a page from all others, and from itself before a change. What it says is in its record."""
    told = [page.record, page.earns, page.color, page.path, page.address, settings.current().web.url]
    return hashlib.blake2b(orjson.dumps(told), digest_size=32).digest()


def _filled(page: LandingPage, *, form: FormState, key: str, recruiter: str, is_applied: bool, is_preview: bool) -> str:
    record = page.record
    return documents.render_html(
        "hosted/landing/page.html",
        static=static_files.url,
        new_key=lambda: key,
        here=page.path,
        form=form,
        page=page,
        record=record,
        said=page.said,
        style=theme.url(page.color),
        logo=_own(record["logoUrl"]),
        icon=_own(record["faviconUrl"]) or _own(record["logoUrl"]),
        hero=_own(page.said["heroImageUrl"]),
        sign_in=f"{settings.current().web.url}/sign-in",
        recruiter=recruiter,
        is_applied=is_applied,
        is_preview=is_preview,
        is_found=record["isPubliclyDiscoverable"] and not is_preview,
    )


def nothing() -> Response:
    """Return the page for what is not there: the same for every address, so that it tells of nobody."""
    answer = documents.render_page(
        "hosted/landing/nothing.html", status=404, allows=_ALLOWED, static=static_files.url, style=theme.url(None)
    )
    answer.vary.add("Cookie")
    return answer


def _settled(answer: Response, record: Mapping[str, Any], is_preview: bool) -> Response:
    if record["isPubliclyDiscoverable"] and not is_preview:
        del answer.headers["X-Robots-Tag"]
    answer.headers["Vary"] = "Cookie, Accept-Encoding"
    if (answer.calculate_content_length() or 0) >= _LONG_BYTES and compression.is_taken():
        compression.mark(answer, compression.packed(answer.get_data()))
    return answer


def _own(url: str | None) -> str | None:
    """Return the path alone: what a page loads is of its own origin, whichever host it is seen at."""
    return urlsplit(url).path if url else None
