"""Somebody with a browser, as far as a test needs none: cookies are kept, and forms are sent from our own pages."""

from typing import Any
from urllib.parse import urlsplit

from werkzeug.test import TestResponse


class Visitor:
    """A browser without a window. What it sends to a page says that it comes from a page of ours."""

    def __init__(self, app: Any) -> None:
        self.client = app.test_client()

    def open(self, url: str, **headers: str) -> TestResponse:
        """GET an address or a path."""
        parts = urlsplit(url)
        return self.client.get(f"{parts.path}?{parts.query}", headers=_named(headers))

    def send(self, path: str, form: dict[str, str] | None = None, **headers: str) -> TestResponse:
        """POST a form."""
        return self.client.post(path, data=form or {}, headers={"Sec-Fetch-Site": "same-origin"} | _named(headers))

    @property
    def cookie(self) -> str | None:
        """The cookie of the session."""
        found = self.client.get_cookie("finderfee")
        return found.value if found else None


def _named(headers: dict[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in headers.items()}
