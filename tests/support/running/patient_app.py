"""The application for web servers of the tests: it has more patience with its servers than the service has.

The service does without its counts and its stream after a quarter of a second. On a busy machine that is no outage,
and a test that counts what was counted would miss some. Nor does a row that a test holds on purpose become free
because the machine is slow.
"""

from flask import Flask

from adapters import broker, event_loop_redis
from models.session import session_settings

_PROMPT_S = 20.0
_HELD_ROW_MS = "300000"


def create_app() -> Flask:
    """Make the application, as `app.create_app` does."""
    broker._SHORT_TIMEOUT_S = event_loop_redis.REPLY_TIMEOUT_S = _PROMPT_S
    session_settings._SETTINGS["lock_timeout"] = session_settings._SETTINGS["statement_timeout"] = _HELD_ROW_MS
    from app import create_app as make

    return make()
