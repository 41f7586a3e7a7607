"""Signing in by a one-time link, signing out, and the choice of a theme.

A link from the shell works for one GET: no scanner reads the terminal where it was printed. A mailed link signs in the
browser that requested it; any other browser shows a button first, so that mail scanners do not use it up. A prefetch
(HEAD, prefetch headers) never uses it up.
"""

import secrets
from typing import Final
from urllib.parse import urlencode

from flask import Blueprint, Response, request
from marshmallow import ValidationError

import settings
from api import sessions
from domain.refusals import Refused
from pages import forms, navigation, pending_forms, screens, session
from pages.forms import FormState
from pages.screens import open_page
from pages.sign_in import redirects
from schemas.base import Email

blueprint = Blueprint("sign_in", __name__)

_PUBLIC_KINDS = ("dashboard", "affiliate")
_YEAR_S = 366 * 86_400
_REQUEST_LIFETIME_S: Final = 15 * 60
_EMAIL = Email()
_WRONG_EMAIL = "Enter an email address, such as name@example.com."


@blueprint.get("/sign-in")
@open_page(bucket="anonymous")
def show_sign_in() -> Response:
    """Show how to sign in, or who is signed in; a person with a pending form is asked to sign in again for it."""
    return _show_form(forms.prefill(next=redirects.read_next_page(request.args)))


@blueprint.post("/sign-in")
@open_page(bucket="anonymous")
def ask_for_link() -> Response:
    """Send a link by email if the address is known. Budget: 2 round trips, known or not."""
    try:
        email = _EMAIL.deserialize(request.form.get("email", "").replace("\x00", ""))
    except ValidationError:
        return _show_form(forms.form_with_errors({"email": _WRONG_EMAIL}))
    request_id = secrets.token_urlsafe(32)
    sessions.request_link(email=email, request_cookie=request_id, back=redirects.read_next_page(request.form))
    answer = screens.redirect("/sign-in/asked")
    is_secure = session.is_secure()
    answer.set_cookie(
        _request_cookie_name(),
        request_id,
        _REQUEST_LIFETIME_S,
        path="/",
        secure=is_secure,
        httponly=True,
        samesite="Lax",
    )
    return answer


@blueprint.get("/sign-in/asked")
@open_page(bucket="anonymous")
def show_asked() -> Response:
    """Show the next step, the same for every address."""
    return screens.render("sign_in_asked.html", has_mail_server=settings.current().mail.smtp is not None)


@blueprint.get("/sign-in/link/<token>")
@open_page(bucket="anonymous")
def open_sign_in_link(token: str) -> Response:
    """Use up a link, or show the button that does if another browser requested it."""
    if redirects.is_prefetch():
        return redirects.render_prefetch()
    answer = _open_link(token, is_sure=False)
    if answer is not None:
        return answer
    if not sessions.is_link(token):
        raise Refused(410, "gone", "This link is over.")
    return screens.render("sign_in_here.html", action=request.full_path.removesuffix("?"))


@blueprint.post("/sign-in/link/<token>")
@open_page(bucket="anonymous")
def use_sign_in_link(token: str) -> Response:
    """Use up a link in a browser whose person pressed the button."""
    answer = _open_link(token, is_sure=True)
    if answer is None:
        raise Refused(410, "gone", "This link is over.")
    return answer


@blueprint.post("/sign-out")
@open_page()
def sign_out() -> Response:
    """End this session, or with `everywhere` all sessions of the person."""
    person, cookie = session.find_person(), session.read_cookie()
    if person is not None and cookie is not None:
        end = sessions.end_everywhere if request.form.get("everywhere") else sessions.end
        end(cookie, person)
    answer = screens.redirect("/sign-in")
    session.delete_cookie(answer)
    pending_forms.delete(answer)
    return answer


@blueprint.post("/theme")
@open_page()
def choose_theme() -> Response:
    """Store the chosen theme in a cookie, and redirect back."""
    theme, back = request.form.get("theme", ""), request.form.get("back", "")
    answer = screens.redirect(back if navigation.is_own_path(back) else "/sign-in")
    if theme in screens.THEMES:
        answer.set_cookie(
            screens.THEME_COOKIE, theme, max_age=_YEAR_S, secure=session.is_secure(), httponly=True, samesite="Lax"
        )
    else:
        answer.delete_cookie(screens.THEME_COOKIE)
    return answer


def _show_form(form: FormState) -> Response:
    is_again = session.find_person() is not None and pending_forms.exists()
    providers = sessions.list_providers()
    ways = {kind for kind, _ in providers} | {kind for kind in _PUBLIC_KINDS if sessions.gives_links(kind)}
    return screens.render(
        "sign_in.html",
        form=form,
        is_again=is_again,
        mails=sessions.gives_links("affiliate"),
        gives_members_links=sessions.gives_links("dashboard"),
        providers=[(kind, name, _provider_address(kind, form)) for kind, name in providers],
        is_closed=not ways.issuperset(_PUBLIC_KINDS),
    )


def _provider_address(kind: str, form: FormState) -> str:
    """Return the address that leads to a provider, and from there to the requested page.

    A person who is already signed in has come for a fresh login.
    """
    params = {"next": form.value("next"), "again": "1" if session.find_person() else ""}
    query = urlencode({name: text for name, text in params.items() if text})
    return f"/sign-in/with/{kind}{'?' if query else ''}{query}"


def _open_link(token: str, *, is_sure: bool) -> Response | None:
    """Return the redirect that starts a link's session; None if the link is invalid, or needs the button first."""
    request_id = request.cookies.get(_request_cookie_name())
    new_session = sessions.open_link(token, cookie=session.read_cookie(), request_cookie=request_id, is_sure=is_sure)
    if new_session is None:
        return None
    answer = redirects.start_session(new_session, requested=redirects.read_next_page(request.args))
    if request_id is not None:
        answer.delete_cookie(
            _request_cookie_name(), path="/", secure=session.is_secure(), httponly=True, samesite="Lax"
        )
    return answer


def _request_cookie_name() -> str:
    return f"{session.cookie_prefix()}finderfee-asked"
