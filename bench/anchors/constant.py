"""The anchor of clicks: a Flask route under gunicorn with a constant response.

Included: HTTP, the route. Not included: the body's JSON, rate limit, lookup, the stream, metrics, log line.
"""

from flask import Flask, Response

_ANSWER = (
    b'{"ok":true,"clickId":"0192f0c1-0000-7000-8000-000000000001","programId":"0192f0c1-0000-7000-8000-000000000002",'
    b'"slug":"partner-0","cookieWindowDays":30,"attributionModel":"LastTouch"}'
)


def create_app() -> Flask:
    """Build the one-route application."""
    app = Flask("anchor", static_folder=None)

    @app.get("/healthz")
    def alive() -> str:
        return "ok\n"

    @app.post("/api/v1/track/click")
    def post_click() -> Response:
        return Response(_ANSWER, content_type="application/json")

    return app
