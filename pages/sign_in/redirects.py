"""The redirect after a sign-in with the session's cookie, and the response to prefetching."""

import re
from collections.abc import Mapping

from flask import Response, request

from api.sessions import NewSession
from pages import navigation, pending_forms, screens, session

_INVITE_PAGE = re.compile(r"/sign-in/invite/[A-Za-z0-9_-]{1,100}")
# It is part of the link in an email, and of a cookie: browsers keep one of 4,096 bytes.
_MAX_PAGE_CHARS = 1_000
_PURPOSE_HEADERS = ("Sec-Purpose", "Purpose", "X-Purpose", "X-Moz")
_PREFETCH_PURPOSES = ("prefetch", "prerender", "preview")


def start_session(new_session: NewSession, *, requested: str | None) -> Response:
    """Return the redirect that starts a session: to the `requested` page, the page of a pending form, or home."""
    page_of_form = pending_forms.find_page(
        pending_forms.form_owner(new_session.kind, new_session.subject, new_session.organization_id)
    )
    answer = screens.redirect(requested or page_of_form or navigation.AREAS[new_session.kind].home)
    session.set_cookie(answer, new_session.cookie, lasts_s=new_session.lasts_s)
    if page_of_form is None:
        pending_forms.delete(answer)
    return answer


def read_next_page(params: Mapping[str, str]) -> str | None:
    """Return the own page in the parameter `next`, or the page of an invitation; None without one."""
    path = params.get("next", "")
    if len(path) > _MAX_PAGE_CHARS:
        return None
    return path if navigation.is_own_path(path) or _INVITE_PAGE.fullmatch(path) else None


def is_prefetch() -> bool:
    """Return whether a browser or a scanner prefetches the page without a person: that must not sign in."""
    purpose = " ".join(request.headers.get(name, "") for name in _PURPOSE_HEADERS).lower()
    return request.method == "HEAD" or any(word in purpose for word in _PREFETCH_PURPOSES)


def render_prefetch() -> Response:
    """Return the response to a prefetch."""
    return screens.render("ahead.html", status=200 if request.method == "HEAD" else 503)
