"""The cookie of a browser that requested a link by email: that browser needs no further confirmation."""

import secrets
from typing import Final

from flask import Response, request

from pages import session

_LIFETIME_S: Final = 15 * 60


def create() -> str:
    """Return the random value for a browser that requests a link."""
    return secrets.token_urlsafe(32)


def read() -> str | None:
    """Return the value of this browser; None if it has requested no link lately."""
    return request.cookies.get(_name())


def set_on(answer: Response, secret: str) -> None:
    """Set the cookie in an answer."""
    answer.set_cookie(_name(), secret, _LIFETIME_S, path="/", secure=session.is_secure(), httponly=True, samesite="Lax")


def delete_from(answer: Response) -> None:
    """Delete the cookie of a browser that has signed in."""
    answer.delete_cookie(_name(), path="/", secure=session.is_secure(), httponly=True, samesite="Lax")


def _name() -> str:
    return f"{session.cookie_prefix()}finderfee-asked"
