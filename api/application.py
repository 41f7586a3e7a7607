"""Flask without its own sessions and coroutines, which no route uses and which cost every request a little."""

from collections.abc import Callable
from typing import Any

from flask import Flask, Request
from flask.sessions import NullSession, SessionInterface, SessionMixin


class _NoSession(SessionInterface):
    """No Flask session: people are identified by our own tokens (`api.sessions`)."""

    _NONE = NullSession()

    def open_session(self, app: Flask, request: Request) -> SessionMixin:
        return self._NONE

    def is_null_session(self, obj: object) -> bool:
        return True


class Application(Flask):
    """An application whose views are functions."""

    session_interface = _NoSession()

    def ensure_sync(self, func: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function unchanged: no view is a coroutine."""
        return func
