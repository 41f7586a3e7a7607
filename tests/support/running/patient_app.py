"""The application for web servers of the tests, with longer timeouts for its backing servers.

The service gives up on rate limit counts and the click stream after a quarter of a second. On a busy machine that is no
outage, and a test that counts them would miss some. Row locks that a test holds must not time out either.
"""

from flask import Flask

from adapters import broker, event_loop_redis
from models.session import session_settings

_REPLY_TIMEOUT_S = 20.0
_LOCK_TIMEOUT_MS = "300000"


def create_app() -> Flask:
    """Create the application with `app.create_app` and long timeouts."""
    broker._SHORT_TIMEOUT_S = event_loop_redis.REPLY_TIMEOUT_S = _REPLY_TIMEOUT_S
    session_settings._SETTINGS["lock_timeout"] = session_settings._SETTINGS["statement_timeout"] = _LOCK_TIMEOUT_MS
    from app import create_app as create_usual_app

    return create_usual_app()
