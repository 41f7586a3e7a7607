"""A landing page as it looks: for strangers, and for its brand before strangers see it.

It is not kept anywhere, though everybody sees the same: its form has a key of its own that stands for one application,
and what a brand changes or ends is to be seen at once.
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from flask import Response

import settings
from api.edge import compression
from api.storefront.landing_page import LandingPage
from pages import documents, forms, statics
from pages.forms import FormState
from pages.hosted.landing import theme

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
    record = page.record
    answer = documents.page(
        "hosted/landing/page.html",
        status=status,
        allows=_ALLOWED,
        static=statics.url,
        new_key=forms.new_key,
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
    return _settled(answer, record, is_preview)


def nothing() -> Response:
    """Return the page for what is not there: the same for every address, so that it tells of nobody."""
    answer = documents.page(
        "hosted/landing/nothing.html", status=404, allows=_ALLOWED, static=statics.url, style=theme.url(None)
    )
    answer.vary.add("Cookie")
    return answer


def _settled(answer: Response, record: Mapping[str, Any], is_preview: bool) -> Response:
    if record["isPubliclyDiscoverable"] and not is_preview:
        del answer.headers["X-Robots-Tag"]
    answer.vary.add("Cookie")
    answer.vary.add("Accept-Encoding")
    if (answer.calculate_content_length() or 0) >= _LONG_BYTES and compression.is_taken():
        compression.mark(answer, compression.packed(answer.get_data()))
    return answer


def _own(url: str | None) -> str | None:
    """Return the path alone: what a page loads is of its own origin, whichever host it is seen at."""
    return urlsplit(url).path if url else None
