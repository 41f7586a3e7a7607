"""Signing in at an identity provider: the redirect there, and the callback.

It starts with a link, because the content policy of the pages stops a form that leads to another origin.
"""

import hashlib
import re
from typing import Final
from urllib.parse import urlencode

from flask import Blueprint, Response, request

from api import provider_sign_in, sessions
from api.provider_sign_in import SignInFailed
from domain.refusals import Refused
from pages import screens, session
from pages.screens import open_page
from pages.sign_in import redirects

blueprint = Blueprint("provider_sign_in", __name__)

_PATH: Final = "/"
# Unfinished sign-ins of one browser; a further one deletes all others.
_MAX_PENDING = 4
_COOKIE_PREFIX = "finderfee-leaving-"
_COOKIE_NAME = re.compile(f"{_COOKIE_PREFIX}[0-9a-f]{{16}}")


@blueprint.get("/sign-in/with/<by>")
@open_page(bucket="anonymous")
def sign_in_with(by: str) -> Response:
    """Redirect to the provider of dashboard users, of affiliates or of operators; `again` requires a new login."""
    if redirects.is_prefetch():
        return redirects.render_prefetch()
    needs_new_login = request.args.get("again") == "1"
    try:
        provider_redirect = provider_sign_in.start(
            by, return_to=redirects.read_next_page(request.args), needs_new_login=needs_new_login
        )
    except SignInFailed as error:
        return _render_refusal(error)
    if provider_redirect is None:
        raise Refused(404, "not_found", "Nobody signs in there.")
    answer = screens.redirect(provider_redirect.address)
    others = [name for name in request.cookies if _COOKIE_NAME.fullmatch(name.removeprefix(session.cookie_prefix()))]
    for name in others if len(others) >= _MAX_PENDING else ():
        _delete_cookie(answer, name)
    lasts_s = int(provider_sign_in.LIFETIME.total_seconds())
    is_secure = session.is_secure()
    answer.set_cookie(
        _cookie_name(provider_redirect.state),
        provider_redirect.sealed,
        lasts_s,
        path=_PATH,
        secure=is_secure,
        httponly=True,
        samesite="Lax",
    )
    return answer


@blueprint.get("/sign-in/callback")
@open_page(bucket="anonymous")
def finish_sign_in() -> Response:
    """Sign in a person who returns from a provider, in the browser that started the sign-in.

    Budget: 3 round trips and the call to the provider, one more if this browser had a session; a first sign-in also
    creates the member.
    """
    if redirects.is_prefetch():
        return redirects.render_prefetch()
    name = _cookie_name(request.args.get("state", ""))
    pending = request.cookies.get(name)
    try:
        new_session, requested = provider_sign_in.finish(pending, request.args, cookie=session.read_cookie())
    except SignInFailed as error:
        answer = _render_refusal(error)
    else:
        answer = redirects.start_session(new_session, requested=requested)
    if pending is not None:  # the secrets of a sign-in are valid for one response, accepted or not
        _delete_cookie(answer, name)
    return answer


def _render_refusal(error: SignInFailed) -> Response:
    query = f"?{urlencode({'next': error.return_to})}" if error.return_to else ""
    status = 503 if error.why == "away" else 403
    return screens.render(
        "not_signed_in.html",
        status=status,
        why=error.why,
        by_team=sessions.takes_roles_from_members(),
        sign_in=f"/sign-in{query}",
    )


def _delete_cookie(answer: Response, name: str) -> None:
    answer.delete_cookie(name, path=_PATH, secure=session.is_secure(), httponly=True, samesite="Lax")


def _cookie_name(state: str) -> str:
    """Return the cookie name of one sign-in, so that sign-ins in two tabs do not affect each other."""
    return f"{session.cookie_prefix()}{_COOKIE_PREFIX}{hashlib.sha256(state.encode()).hexdigest()[:16]}"
