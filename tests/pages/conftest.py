"""A real browser against a real server. Without a Chromium on the machine these tests are skipped; CI installs one."""

import shutil
import threading
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, sync_playwright
from werkzeug.serving import make_server

from models import db

_CHROMIUM = shutil.which("chromium") or shutil.which("chromium-headless-shell")
_FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync", "--no-first-run"]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Return a headless Chromium."""
    if _CHROMIUM is None:
        pytest.skip("there is no chromium on this machine")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=_CHROMIUM, args=_FLAGS)
        yield started
        started.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """Return an empty page; what goes wrong in it fails the test."""
    context = browser.new_context()
    opened = context.new_page()
    wrong: list[str] = []
    opened.on("pageerror", lambda error: wrong.append(str(error)))
    opened.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
    yield opened
    context.close()
    assert wrong == []


@pytest.fixture
def site(app: object) -> Iterator[str]:
    """Return the address of the application behind a real socket."""

    def serve() -> None:
        server.serve_forever()
        db.db.drop_connection()

    server = make_server("127.0.0.1", 0, app, threaded=False)  # type: ignore[arg-type]  # a Flask application
    thread = threading.Thread(target=serve)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()
