"""The application for web servers of the tests: it has more patience with the broker's server than the service has.

The service does without its counts and its stream after a quarter of a second. On a busy machine that is no outage,
and a test that counts what was counted would miss some.
"""

from flask import Flask

from adapters import broker, loop_wire

_PROMPT_S = 20.0


def create_app() -> Flask:
    """Make the application, as `app.create_app` does."""
    broker._PROMPT_S = loop_wire.PROMPT_S = _PROMPT_S
    from app import create_app as make

    return make()
