"""Signing in at an identity provider: the way there, and back.

It begins with a link, because a form that led to another origin is stopped by the policy of our pages.
"""

import hashlib
import re
from typing import Final
from urllib.parse import urlencode

from flask import Blueprint, Response, request

from api import provider_sign_in
from api.provider_sign_in import SignInFailed
from domain.refusals import Refused
from pages import screens, session
from pages.screens import open_page
from pages.sign_in import leading

blueprint = Blueprint("provider_sign_in", __name__)

_PATH: Final = "/"
# Sign-ins that one browser may be in the middle of; with more all but the last begin anew.
_MOST_AT_ONCE = 4
_BEGINS = "finderfee-leaving-"
_IS_NAME = re.compile(f"{_BEGINS}[0-9a-f]{{16}}")


@blueprint.get("/sign-in/with/<by>")
@open_page(bucket="anonymous")
def sign_in_with(by: str) -> Response:
    """Lead to the provider of the dashboard's people, of affiliates or of operators; `again`: to log in anew."""
    if leading.is_looked_at_ahead():
        return leading.ahead()
    is_again = request.args.get("again") == "1"
    try:
        trip = provider_sign_in.start(by, back=leading.wanted(request.args), is_again=is_again)
    except SignInFailed as error:
        return _not_signed_in(error)
    if trip is None:
        raise Refused(404, "not_found", "Nobody signs in there.")
    answer = screens.sent_on(trip.address)
    others = [name for name in request.cookies if _IS_NAME.fullmatch(name.removeprefix(session.prefix()))]
    for name in others if len(others) >= _MOST_AT_ONCE else ():
        _drop(answer, name)
    lasts_s = int(provider_sign_in.LIFETIME.total_seconds())
    is_secure = session.is_secure()
    answer.set_cookie(
        _name(trip.state), trip.sealed, lasts_s, path=_PATH, secure=is_secure, httponly=True, samesite="Lax"
    )
    return answer


@blueprint.get("/sign-in/callback")
@open_page(bucket="anonymous")
def come_back() -> Response:
    """Sign in who comes back from a provider, in the browser that left for it.

    Budget: 3 round trips and the call to the provider, one more where this browser had a session; a first sign-in makes
    the member as well.
    """
    if leading.is_looked_at_ahead():
        return leading.ahead()
    name = _name(request.args.get("state", ""))
    kept = request.cookies.get(name)
    try:
        begun, wanted = provider_sign_in.finish(kept, request.args, cookie=session.cookie())
    except SignInFailed as error:
        answer = _not_signed_in(error)
    else:
        answer = leading.on(begun, wanted=wanted)
    if kept is not None:  # what a sign-in is held against is good for one answer, whichever it was
        _drop(answer, name)
    return answer


def _not_signed_in(error: SignInFailed) -> Response:
    query = f"?{urlencode({'next': error.back})}" if error.back else ""
    status = 503 if error.why == "away" else 403
    return screens.show("not_signed_in.html", status=status, why=error.why, sign_in=f"/sign-in{query}")


def _drop(answer: Response, name: str) -> None:
    answer.delete_cookie(name, path=_PATH, secure=session.is_secure(), httponly=True, samesite="Lax")


def _name(state: str) -> str:
    """Return the cookie of one sign-in, so that two in two tabs do not disturb each other."""
    return f"{session.prefix()}{_BEGINS}{hashlib.sha256(state.encode()).hexdigest()[:16]}"
