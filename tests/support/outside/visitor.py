"""A browser without JavaScript: it keeps cookies and submits forms as from pages of the service."""

import io
from typing import Any
from urllib.parse import urlsplit

from werkzeug.datastructures import FileStorage
from werkzeug.test import TestResponse, encode_multipart


class Visitor:
    """A browser without JavaScript; its forms are sent with the same-origin header of the service's pages."""

    def __init__(self, app: Any) -> None:
        self.client = app.test_client()

    def open(self, url: str, **headers: str) -> TestResponse:
        """GET a URL or a path."""
        parts = urlsplit(url)
        return self.client.get(f"{parts.path}?{parts.query}", headers=_header_names(headers))

    def send(self, path: str, form: dict[str, str] | None = None, **headers: str) -> TestResponse:
        """POST a form."""
        return self.client.post(
            path, data=form or {}, headers={"Sec-Fetch-Site": "same-origin"} | _header_names(headers)
        )

    def upload(self, path: str, form: dict[str, str], content: bytes, file_name: str) -> TestResponse:
        """POST a form with a file in its field `file`."""
        file = FileStorage(io.BytesIO(content), file_name, "file")
        # The test client itself would write a large file to the disk.
        boundary, body = encode_multipart(form | {"file": file})
        headers = {"Sec-Fetch-Site": "same-origin", "Content-Type": f"multipart/form-data; boundary={boundary}"}
        return self.client.post(path, data=body, headers=headers)

    @property
    def cookie(self) -> str | None:
        """The value of the session cookie."""
        cookie = self.client.get_cookie("finderfee")
        return cookie.value if cookie else None


def _header_names(headers: dict[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in headers.items()}
