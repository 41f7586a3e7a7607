"""A real browser against a real server. Without a Chromium on the machine these tests are skipped; CI installs one."""

import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.support.app_server import serve_app
from tests.support.outside.shop_site import ShopSite
from tests.support.pages.screens import is_poll

# On a busy machine everything comes, but late.
expect.set_options(timeout=30_000)

_VIOLATIONS = """
addEventListener('securitypolicyviolation', event => console.error('CSP: ' + event.violatedDirective))
"""
_CHROMIUM = shutil.which("chromium") or shutil.which("chromium-headless-shell")
_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-sync",
    "--no-first-run",
    # pages under public names may load from this machine, where the service under test is
    "--disable-features=LocalNetworkAccessChecks",
    # nobody outside is asked for anything; what a test answers for others is answered before that
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the longest, so that nobody waits for them in the end."""
    items.sort(key=lambda item: "/test_sweep.py::" not in item.nodeid)


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
def page(browser: Browser, site: str) -> Iterator[Page]:
    """Return an empty page that is gone before its site is; what goes wrong in it fails the test."""
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
    with serve_app(app) as address:
        yield address


@pytest.fixture
def shop(page, site, brand):
    """A site of the brand, whose program has the affiliates ben and eva."""
    program_id = brand.program(cookie_window_days=45)
    for slug in ("ben", "eva"):
        brand.affiliate(f"{slug}-{program_id.hex[-12:]}")
    found = ShopSite(page, site, program_id)
    found.ben, found.eva = (f"{slug}-{program_id.hex[-12:]}" for slug in ("ben", "eva"))
    return found


@pytest.fixture
def window(browser, site):
    """What opens a page that may speak to nobody but the site; what it says in its console fails the test.

    `also` is another origin that it may speak to, `meets` the statuses of pages that are meant to fail.
    """
    contexts, wrong = [], []

    def open_window(*, also=None, meets=(409, 410, 422), **options):
        context = browser.new_context(base_url=site, **options)
        contexts.append(context)

        context.on("request", lambda request: None if _is_from(request.url, site, also) else wrong.append(request.url))
        if options.get("java_script_enabled", True):
            context.add_init_script(_VIOLATIONS)
        page = context.new_page()
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda said: None if _is_expected(said, meets) else wrong.append(said.text))
        return page

    yield open_window
    for context in contexts:
        context.close()
    assert wrong == []


def _is_from(url, *origins):
    return any(url.startswith(f"{origin}/") for origin in origins if origin)


def _is_expected(said, statuses):
    """Return whether the browser only names the status of a page that is meant to fail, or that who types was faster.

    What a live part asks while somebody signs out is answered after that. Of a part of a page that is opened by itself,
    which names no icon, a Chromium with windows asks for one at the usual place.
    """
    if said.text.startswith("Autofocus processing was blocked") or said.location["url"].endswith("/favicon.ico"):
        return True
    meant = (*statuses, 401) if is_poll(said.location["url"]) else statuses
    return any(f"the server responded with a status of {status}" in said.text for status in meant)
