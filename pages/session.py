"""The session of the browser: its cookie and its person. Only pages read the cookie."""

from typing import Final

from flask import Response, g, request

import settings
from api.access import persons
from api.access.persons import Person

_PATH: Final = "/"
_NOT_LOADED: Final = object()


def read_cookie() -> str | None:
    """Return the session cookie of this request, valid or not."""
    return request.cookies.get(_cookie_name()) or None


def find_person() -> Person | None:
    """Return the signed-in person; None without a session. Loaded once a request.

    A form is not accepted from the cache: the session may have ended, or the role changed, in another process.
    """
    signed_in: Person | None = g.get("person", _NOT_LOADED)
    if signed_in is _NOT_LOADED:
        signed_in = g.person = persons.find_by_cookie(read_cookie(), is_current=request.method not in ("GET", "HEAD"))
    return signed_in


def require_person() -> Person:
    """Return the signed-in person of a screen that requires one."""
    signed_in = find_person()
    assert signed_in is not None  # the screen has checked
    return signed_in


def set_cookie(answer: Response, secret: str, *, lasts_s: int) -> None:
    """Set the cookie of a new session."""
    answer.set_cookie(
        _cookie_name(), secret, max_age=lasts_s, path=_PATH, secure=is_secure(), httponly=True, samesite="Lax"
    )


def delete_cookie(answer: Response) -> None:
    """Delete the session cookie."""
    answer.delete_cookie(_cookie_name(), path=_PATH, secure=is_secure(), httponly=True, samesite="Lax")


def is_secure() -> bool:
    """Return whether the service's address is https."""
    return settings.current().web.url.startswith("https://")


def cookie_prefix() -> str:
    """Return the prefix of the service's cookie names, which binds them to this host and https."""
    return "__Host-" if is_secure() else ""


def _cookie_name() -> str:
    return f"{cookie_prefix()}finderfee"
