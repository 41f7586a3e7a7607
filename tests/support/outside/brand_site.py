"""A brand's web site: a plain HTTP server on this machine whose pages a test defines."""

import http.server
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from commands.demo.no_delay_handler import NoDelayHandler

PageHandler = Callable[["_Handler"], None]


@dataclass(slots=True)
class SitePage:
    """The response of a path; `handler` replaces it, for responses that no correct server sends."""

    html: str = ""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    handler: PageHandler | None = None


class BrandSite:
    """Serves `pages` by path, and 404 for other paths. Records the requested paths."""

    def __init__(self) -> None:
        self.pages: dict[str, SitePage] = {}
        self.requested_paths: list[str] = []
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._server.daemon_threads = True
        self._server.site = self  # type: ignore[attr-defined]  # for the handler
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def url(self) -> str:
        """The URL of the site, without a slash at the end."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def show(self, html: str, *, path: str = "/", headers: dict[str, str] | None = None) -> str:
        """Put a page at a path and return its URL."""
        content_type = {"Content-Type": "text/html; charset=utf-8"}
        self.pages[path] = SitePage(html, headers=content_type | (headers or {}))
        return f"{self.url}{path}"

    def move(self, path: str, to: str, status: int = 302) -> str:
        """Redirect a path to another URL and return the URL of the path."""
        self.pages[path] = SitePage(status=status, headers={"Location": to})
        return f"{self.url}{path}"

    def close(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()


class _Handler(NoDelayHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        site: BrandSite = self.server.site  # type: ignore[attr-defined]
        site.requested_paths.append(self.path)
        page = site.pages.get(self.path.partition("?")[0], SitePage("Nothing here.", 404))
        if page.handler is not None:
            self.close_connection = True
            return page.handler(self)
        body = page.html.encode()
        self.send_response(page.status)
        for name, value in page.headers.items():
            for path in value.split("\n"):
                self.send_header(name, path)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        return None
