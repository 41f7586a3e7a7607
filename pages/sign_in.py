"""Signing in by a one-time link, signing out, and the choice of a theme.

A link from the shell is good for one GET: no scanner reads the terminal where it was printed. A mailed one signs in the
browser that asked for it; any other shows a button first, so that who opens others' letters uses nothing up. What looks
ahead of a person (HEAD, prefetch) never does.
"""

import secrets
from collections.abc import Mapping
from typing import Final

from flask import Blueprint, Response, request
from marshmallow import ValidationError

import settings
from api import sessions
from domain.refused import Refused
from pages import forms, kept, navigation, screens, session
from pages.forms import FormState
from pages.screens import open_page
from schemas.base import Email

blueprint = Blueprint("sign_in", __name__)

_AHEAD_HEADERS = ("Sec-Purpose", "Purpose", "X-Purpose", "X-Moz")
_AHEAD = ("prefetch", "prerender", "preview")
_YEAR_S = 366 * 86_400
_ASKED_S: Final = 15 * 60
_EMAIL = Email()
_WRONG_EMAIL = "Enter an email address, such as name@example.com."


@blueprint.get("/sign-in")
@open_page(bucket="anonymous")
def show_sign_in() -> Response:
    """Say how to sign in, or who is signed in; whoever has a form kept is asked to sign in again for it."""
    return _show(forms.blank(next=_next(request.args)))


@blueprint.post("/sign-in")
@open_page(bucket="anonymous")
def ask_for_link() -> Response:
    """Have a link mailed, if there is somebody to mail it to. Budget: 2 round trips, whoever it is."""
    try:
        email = _EMAIL.deserialize(request.form.get("email", "").replace("\x00", ""))
    except ValidationError:
        return _show(forms.wrong({"email": _WRONG_EMAIL}), status=422)
    asked = secrets.token_urlsafe(32)
    sessions.ask_for_link(email=email, asked=asked, back=_next(request.form))
    answer = screens.sent_on("/sign-in/asked")
    is_secure = session.is_secure()
    answer.set_cookie(_asked_name(), asked, _ASKED_S, path="/", secure=is_secure, httponly=True, samesite="Lax")
    return answer


@blueprint.get("/sign-in/asked")
@open_page(bucket="anonymous")
def show_asked() -> Response:
    """Say what happens now: the same to everybody."""
    return screens.show("sign_in_asked.html", has_mail_server=settings.current().mail.smtp is not None)


@blueprint.get("/sign-in/link/<token>")
@open_page(bucket="anonymous")
def open_sign_in_link(token: str) -> Response:
    """Use a link up, or show the button that does where another browser asked for it."""
    if _is_looked_at_ahead():
        return screens.show("ahead.html", status=200 if request.method == "HEAD" else 503)
    answer = _signed_in(token, is_sure=False)
    if answer is not None:
        return answer
    if not sessions.is_link(token):
        raise Refused(410, "gone", "This link is over.")
    return screens.show("sign_in_here.html", action=request.full_path.removesuffix("?"))


@blueprint.post("/sign-in/link/<token>")
@open_page(bucket="anonymous")
def use_sign_in_link(token: str) -> Response:
    """Use a link up in a browser whose person pressed the button."""
    answer = _signed_in(token, is_sure=True)
    if answer is None:
        raise Refused(410, "gone", "This link is over.")
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


def _show(form: FormState, *, status: int = 200) -> Response:
    is_again = session.present() is not None and kept.is_there()
    return screens.show("sign_in.html", form=form, status=status, is_again=is_again, mails=sessions.mails_links())


def _signed_in(token: str, *, is_sure: bool) -> Response | None:
    """Return the answer that begins a link's session; None where the link is not good, or not yet.

    It leads to `next`, to the form that waits for this person, or to where they begin.
    """
    asked = request.cookies.get(_asked_name())
    begun = sessions.open_link(token, cookie=session.cookie(), asked=asked, is_sure=is_sure)
    if begun is None:
        return None
    who = begun.session
    waiting = kept.waiting(kept.owner(who.kind, who.subject, who.organization_id))
    home = navigation.AREAS[who.kind].home  # type: ignore[index]  # the database knows these three
    answer = screens.sent_on(_next(request.args) or waiting or home)
    session.give(answer, begun.cookie, lasts_s=int((who.expires_at - who.signed_in_at).total_seconds()))
    if waiting is None:
        kept.drop(answer)
    if asked is not None:
        answer.delete_cookie(_asked_name(), path="/", secure=session.is_secure(), httponly=True, samesite="Lax")
    return answer


def _is_looked_at_ahead() -> bool:
    purpose = " ".join(request.headers.get(name, "") for name in _AHEAD_HEADERS).lower()
    return request.method == "HEAD" or any(word in purpose for word in _AHEAD)


def _next(told: Mapping[str, str]) -> str | None:
    """Return the page of ours that one wanted to see."""
    wanted = told.get("next", "")
    return wanted if navigation.is_ours(wanted) else None


def _asked_name() -> str:
    return f"{session.prefix()}finderfee-asked"
