"""Signing in by a one-time link, signing out, and the choice of a theme.

A link from the shell works for one GET: no scanner reads the terminal where it was printed. A mailed link signs in the
browser that requested it; any other browser shows a button first, so that mail scanners do not use it up. A person who
has several destinations, or a second factor, chooses and types the code on the same page. A prefetch (HEAD, prefetch
headers) never uses a link up.
"""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from urllib.parse import urlencode, urlsplit

from flask import Blueprint, Response, request
from marshmallow import ValidationError

import settings
from api import sessions
from api.sessions import LinkRequest, NewSession, OpenLink
from domain import urls
from domain.refusals import Refused
from pages import forms, navigation, pending_forms, screens, session
from pages.forms import FormState
from pages.screens import open_page
from pages.sign_in import redirects, request_cookie
from schemas.base import Email

blueprint = Blueprint("sign_in", __name__)

_PUBLIC_KINDS = ("dashboard", "affiliate")
_YEAR_S = 366 * 86_400
_EMAIL = Email()
_WRONG_EMAIL = "Enter an email address, such as name@example.com."
_CHOOSE = "Choose where to sign in."
_ENTER_CODE = "Enter the code from your authenticator app."
#: Why a code of the second factor was refused.
CODE_ERRORS: Mapping[str, str] = MappingProxyType(
    {
        "wrong": "This code is wrong or was already used. Enter the current code from your app, or a recovery code.",
        "blocked": "Too many wrong codes. Wait 15 minutes, then try again.",
    }
)


@blueprint.get("/sign-in")
@open_page(bucket="anonymous")
def show_sign_in() -> Response:
    """Show how to sign in, or who is signed in; a person with a pending form is asked to sign in again for it."""
    return _show_form(forms.prefill(next=redirects.read_next_page(request.args)))


@blueprint.post("/sign-in")
@open_page(bucket="anonymous")
def ask_for_link() -> Response:
    """Send a link by email if the address is known. Budget: 2 round trips, known or not, and those of a session."""
    try:
        email = _EMAIL.deserialize(request.form.get("email", "").replace("\x00", ""))
    except ValidationError:
        return _show_form(forms.form_with_errors({"email": _WRONG_EMAIL}))
    secret = request_cookie.create()
    sessions.request_link(
        email=email,
        request_cookie=secret,
        back=redirects.read_next_page(request.form),
        person=session.find_person(),
    )
    answer = screens.redirect("/sign-in/asked")
    request_cookie.set_on(answer, secret)
    return answer


@blueprint.post("/sign-in/confirm")
@open_page(bucket="anonymous")
def confirm_by_code() -> Response:
    """Renew the login of a signed-in member by a code of their second factor, and return to the waiting form."""
    cookie = session.read_cookie()
    confirmed = sessions.confirm_login(cookie, request.form.get("code", "")) if cookie else None
    if isinstance(confirmed, NewSession):
        return redirects.start_session(confirmed, requested=redirects.read_next_page(request.form))
    if confirmed is None:
        return screens.redirect("/sign-in")
    return _show_form(forms.form_with_errors({"code": CODE_ERRORS[confirmed]}))


@blueprint.get("/sign-in/asked")
@open_page(bucket="anonymous")
def show_asked() -> Response:
    """Show the next step, the same for every address."""
    has_hint = settings.current().mail.smtp is None and _is_local_only()
    return screens.render("sign_in_asked.html", has_hint=has_hint)


@blueprint.get("/sign-in/link/<token>")
@open_page(bucket="anonymous")
def open_sign_in_link(token: str) -> Response:
    """Use up a link, or show the page on which its person confirms, chooses a destination or types a code."""
    if redirects.is_prefetch():
        return redirects.render_prefetch()
    return _open_link(token, is_sure=False)


@blueprint.post("/sign-in/link/<token>")
@open_page(bucket="anonymous")
def use_sign_in_link(token: str) -> Response:
    """Use up a link in a browser whose person pressed the button."""
    return _open_link(token, is_sure=True)


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
    person = session.find_person()
    is_again = person is not None and pending_forms.exists()
    providers = sessions.list_providers()
    open_kinds = {kind for kind, _ in providers} | {kind for kind in _PUBLIC_KINDS if sessions.gives_links(kind)}
    is_member_again = is_again and person is not None and person.kind == "member" and sessions.gives_links("dashboard")
    return screens.render(
        "sign_in.html",
        form=form if person is None or form.value("email") else _fill_email(form, person.email),
        is_again=is_again,
        mails=any(sessions.gives_links(kind) for kind in _PUBLIC_KINDS),
        asks_code=is_member_again and person is not None and sessions.has_second_factor(person.email),
        shows_commands=_is_local_only(),
        gives_members_links=sessions.gives_links("dashboard"),
        gives_affiliates_links=sessions.gives_links("affiliate"),
        providers=[(kind, name, _provider_address(kind, form)) for kind, name in providers],
        is_closed=not open_kinds.issuperset(_PUBLIC_KINDS),
    )


def _fill_email(form: FormState, email: str) -> FormState:
    return replace(form, values={**form.values, "email": [email]})


def _provider_address(kind: str, form: FormState) -> str:
    """Return the address that leads to a provider, and from there to the requested page.

    A person who is already signed in has come for a fresh login.
    """
    params = {"next": form.value("next"), "again": "1" if session.find_person() else ""}
    query = urlencode({name: text for name, text in params.items() if text})
    return f"/sign-in/with/{kind}{'?' if query else ''}{query}"


def _open_link(token: str, *, is_sure: bool) -> Response:
    """Return the redirect that starts a link's session, or the page with what is missing. Raises Refused 410."""
    browser_secret, code = request_cookie.read(), request.form.get("code", "").strip()
    opening = LinkRequest(
        cookie=session.read_cookie(),
        browser_secret=browser_secret,
        user_agent=sessions.user_agent() or "",
        next_page=redirects.read_next_page(request.args),
        is_sure=is_sure,
        destination=request.form.get("destination"),
        code=code or None,
    )
    opened = sessions.open_link(token, opening)
    if opened is None:
        raise Refused(410, "gone", "This link has expired.")
    if isinstance(opened, OpenLink):
        return _show_open_link(opened, is_sure=is_sure)
    answer = redirects.start_session(opened, requested=_page_after(opening, opened))
    if browser_secret is not None:
        request_cookie.delete_from(answer)
    return answer


def _page_after(opening: LinkRequest, new_session: NewSession) -> str | None:
    """Return the requested page if it is of the area that the person chose; else they see its first page."""
    page = opening.next_page
    is_of_area = page is not None and page.startswith(navigation.AREAS[new_session.kind].home)
    return page if is_of_area or opening.destination is None else None


def _show_open_link(link: OpenLink, *, is_sure: bool) -> Response:
    """Show the page on which a person confirms a link, chooses a destination and types a code."""
    errors = {}
    if is_sure and link.chosen is None:
        errors["destination"] = _CHOOSE
    if is_sure and link.needs_code and (link.result or not request.form.get("code", "").strip()):
        errors["code"] = CODE_ERRORS[link.result] if link.result else _ENTER_CODE
    form = forms.form_from_request()
    first = link.chosen or link.destinations[0]
    values = {"destination": [form.value("destination") or first.key], "code": []}
    return screens.render(
        "sign_in_here.html",
        FormState(values, errors, status=422 if errors else 200),
        link=link,
        action=request.full_path.removesuffix("?"),
    )


def _is_local_only() -> bool:
    """Return whether the service's address is one of this machine, where the reader can use the shell."""
    return urls.is_loopback(urlsplit(settings.current().web.url).hostname or "")
