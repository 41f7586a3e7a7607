"""Signing in by a one-time link, signing out, and the choice of a theme.

A link from the shell is good for one GET: no scanner reads the terminal where it was printed. A mailed one signs in the
browser that asked for it; any other shows a button first, so that who opens others' letters uses nothing up. What looks
ahead of a person (HEAD, prefetch) never does.
"""

import secrets
from typing import Final
from urllib.parse import urlencode

from flask import Blueprint, Response, request
from marshmallow import ValidationError

import settings
from api import sessions
from domain.refusals import Refused
from pages import forms, kept, navigation, screens, session
from pages.forms import FormState
from pages.screens import open_page
from pages.sign_in import leading
from schemas.base import Email

blueprint = Blueprint("sign_in", __name__)

_MOST_PEOPLE = ("dashboard", "affiliate")
_YEAR_S = 366 * 86_400
_ASKED_S: Final = 15 * 60
_EMAIL = Email()
_WRONG_EMAIL = "Enter an email address, such as name@example.com."


@blueprint.get("/sign-in")
@open_page(bucket="anonymous")
def show_sign_in() -> Response:
    """Say how to sign in, or who is signed in; whoever has a form kept is asked to sign in again for it."""
    return _show(forms.blank(next=leading.wanted(request.args)))


@blueprint.post("/sign-in")
@open_page(bucket="anonymous")
def ask_for_link() -> Response:
    """Have a link mailed, if there is somebody to mail it to. Budget: 2 round trips, whoever it is."""
    try:
        email = _EMAIL.deserialize(request.form.get("email", "").replace("\x00", ""))
    except ValidationError:
        return _show(forms.form_with_errors({"email": _WRONG_EMAIL}))
    asked = secrets.token_urlsafe(32)
    sessions.request_link(email=email, request_cookie=asked, back=leading.wanted(request.form))
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
    if leading.is_looked_at_ahead():
        return leading.ahead()
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


def _show(form: FormState) -> Response:
    is_again = session.present() is not None and kept.is_there()
    providers = sessions.list_providers()
    ways = {kind for kind, _ in providers} | {kind for kind in _MOST_PEOPLE if sessions.gives_links(kind)}
    return screens.show(
        "sign_in.html",
        form=form,
        is_again=is_again,
        mails=sessions.gives_links("affiliate"),
        gives_members_links=sessions.gives_links("dashboard"),
        providers=[(kind, name, _address_of(kind, form)) for kind, name in providers],
        is_closed=not ways.issuperset(_MOST_PEOPLE),
    )


def _address_of(kind: str, form: FormState) -> str:
    """Return the address that leads to a provider, and from there to the page that one wanted to see.

    Who is signed in already has come to log in anew.
    """
    told = {"next": form.value("next"), "again": "1" if session.present() else ""}
    query = urlencode({name: text for name, text in told.items() if text})
    return f"/sign-in/with/{kind}{'?' if query else ''}{query}"


def _signed_in(token: str, *, is_sure: bool) -> Response | None:
    """Return the answer that begins a link's session; None where the link is not good, or not yet."""
    asked = request.cookies.get(_asked_name())
    begun = sessions.open_link(token, cookie=session.cookie(), request_cookie=asked, is_sure=is_sure)
    if begun is None:
        return None
    answer = leading.on(begun, wanted=leading.wanted(request.args))
    if asked is not None:
        answer.delete_cookie(_asked_name(), path="/", secure=session.is_secure(), httponly=True, samesite="Lax")
    return answer


def _asked_name() -> str:
    return f"{session.prefix()}finderfee-asked"
