"""Signing in by a one-time link, signing out, and the choice of a theme.

A link is good for one GET: no scanner reads the terminal where it was printed. What looks ahead of a person (HEAD,
prefetch) uses nothing up.
"""

from flask import Blueprint, Response, request

from api import sessions
from domain.refused import Refused
from pages import kept, navigation, screens, session
from pages.screens import open_page

blueprint = Blueprint("sign_in", __name__)

_AHEAD_HEADERS = ("Sec-Purpose", "Purpose", "X-Purpose", "X-Moz")
_AHEAD = ("prefetch", "prerender", "preview")
_YEAR_S = 366 * 86_400


@blueprint.get("/sign-in")
@open_page(bucket="anonymous")
def show_sign_in() -> Response:
    """Say how to sign in, or who is signed in; whoever has a form kept is asked to sign in again for it."""
    return screens.show("sign_in.html", is_again=session.present() is not None and kept.is_there())


@blueprint.get("/sign-in/link/<token>")
@open_page(bucket="anonymous")
def open_sign_in_link(token: str) -> Response:
    """Use a link up and lead to `next`, to the form that waits for this person, or to where they begin."""
    if _is_looked_at_ahead():
        return screens.show("ahead.html", status=200 if request.method == "HEAD" else 503)
    begun = sessions.open_link(token, cookie=session.cookie())
    if begun is None:
        raise Refused(410, "gone", "This link is over.")
    area = navigation.AREAS[begun.session.kind]  # type: ignore[index]  # the database knows these three
    who = begun.session
    waiting = kept.waiting(kept.owner(who.kind, who.subject, who.organization_id))
    answer = screens.sent_on(_next() or waiting or area.home)
    if waiting is None:
        kept.drop(answer)
    lasts = begun.session.expires_at - begun.session.signed_in_at
    session.give(answer, begun.cookie, lasts_s=int(lasts.total_seconds()))
    return answer


@blueprint.post("/sign-out")
@open_page()
def sign_out() -> Response:
    """End this session, or with `everywhere` all of the person's."""
    person, cookie = session.present(), session.cookie()
    if person is not None and cookie is not None:
        end = sessions.end_everywhere if request.form.get("everywhere") else sessions.end
        end(cookie, person)
    answer = screens.sent_on("/sign-in")
    session.take(answer)
    kept.drop(answer)
    return answer


@blueprint.post("/theme")
@open_page()
def choose_theme() -> Response:
    """Keep which theme somebody wants, and lead back."""
    wanted, back = request.form.get("theme", ""), request.form.get("back", "")
    answer = screens.sent_on(back if navigation.is_ours(back) else "/sign-in")
    if wanted in screens.THEMES:
        answer.set_cookie(
            screens.THEME_COOKIE, wanted, max_age=_YEAR_S, secure=session.is_secure(), httponly=True, samesite="Lax"
        )
    else:
        answer.delete_cookie(screens.THEME_COOKIE)
    return answer


def _is_looked_at_ahead() -> bool:
    purpose = " ".join(request.headers.get(name, "") for name in _AHEAD_HEADERS).lower()
    return request.method == "HEAD" or any(word in purpose for word in _AHEAD)


def _next() -> str | None:
    """Return the page of ours that one wanted to see."""
    wanted = request.args.get("next", "")
    return wanted if navigation.is_ours(wanted) else None
