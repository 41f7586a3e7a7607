"""Where somebody is led who has just signed in, and the cookie that they take along."""

from collections.abc import Mapping

from flask import Response, request

from api.sessions import NewSession
from pages import kept, navigation, screens, session

_AHEAD_HEADERS = ("Sec-Purpose", "Purpose", "X-Purpose", "X-Moz")
_AHEAD = ("prefetch", "prerender", "preview")


def on(begun: NewSession, *, wanted: str | None) -> Response:
    """Return the answer that begins a session: to the page `wanted`, the form that waits for this person, or home."""
    waiting = kept.waiting(kept.owner(begun.kind, begun.subject, begun.organization_id))
    answer = screens.sent_on(wanted or waiting or navigation.AREAS[begun.kind].home)
    session.give(answer, begun.cookie, lasts_s=begun.lasts_s)
    if waiting is None:
        kept.drop(answer)
    return answer


def wanted(told: Mapping[str, str]) -> str | None:
    """Return the page of ours that one wanted to see."""
    path = told.get("next", "")
    return path if navigation.is_ours(path) else None


def is_looked_at_ahead() -> bool:
    """Say whether something asks ahead of a person, who may never come: that signs nobody in."""
    purpose = " ".join(request.headers.get(name, "") for name in _AHEAD_HEADERS).lower()
    return request.method == "HEAD" or any(word in purpose for word in _AHEAD)


def ahead() -> Response:
    """Return what that gets."""
    return screens.show("ahead.html", status=200 if request.method == "HEAD" else 503)
