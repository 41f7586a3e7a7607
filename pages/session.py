"""The session of who sits at the browser: its cookie, and the person it stands for. Only pages look at the cookie."""

from typing import Final

from flask import Response, g, request

import settings
from api.access import persons
from api.access.persons import Person

_PATH: Final = "/"
_UNSET: Final = object()


def cookie() -> str | None:
    """Return the cookie of this request's session, whatever it stands for."""
    return request.cookies.get(_name()) or None


def present() -> Person | None:
    """Return who is signed in; None when nobody is. Looked up once a request."""
    found: Person | None = g.get("person", _UNSET)
    if found is _UNSET:
        found = g.person = persons.find_by_cookie(cookie())
    return found


def person() -> Person:
    """Return who is signed in, on a screen that nobody else gets to see."""
    found = present()
    assert found is not None  # the screen has looked
    return found


def give(answer: Response, made: str, *, lasts_s: int) -> None:
    """Give the browser the cookie of a session that has just begun."""
    answer.set_cookie(_name(), made, max_age=lasts_s, path=_PATH, secure=is_secure(), httponly=True, samesite="Lax")


def take(answer: Response) -> None:
    """Take the cookie back."""
    answer.delete_cookie(_name(), path=_PATH, secure=is_secure(), httponly=True, samesite="Lax")


def is_secure() -> bool:
    """Say whether browsers reach us by https alone."""
    return settings.current().web.url.startswith("https://")


def prefix() -> str:
    """Return what the names of our cookies begin with: it binds them to this very host, over https alone."""
    return "__Host-" if is_secure() else ""


def _name() -> str:
    return f"{prefix()}finderfee"
