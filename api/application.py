"""Flask without what no route uses: sessions of its own and coroutines cost every request a little."""

from collections.abc import Callable
from typing import Any

from flask import Flask, Request
from flask.sessions import NullSession, SessionInterface, SessionMixin


class _NoSession(SessionInterface):
    """Whoever signed in is known by tokens of ours (`api.sessions`)."""

    _NONE = NullSession()

    def open_session(self, app: Flask, request: Request) -> SessionMixin:
        return self._NONE

    def is_null_session(self, obj: object) -> bool:
        return True


class Application(Flask):
    """An application whose views are functions."""

    session_interface = _NoSession()

    def ensure_sync(self, func: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function: none is a coroutine."""
        return func
