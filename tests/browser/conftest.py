"""A real browser against a real server. Without a Chromium on the machine these tests are skipped; CI installs one."""

import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.support.app_server import serve_app
from tests.support.outside.shop_site import ShopSite
from tests.support.pages.screens import is_poll

# On a busy machine everything appears, but late.
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
    # pages under public names may load from this machine, where the tested service runs
    "--disable-features=LocalNetworkAccessChecks",
    # no request leaves this machine; routes that a test fulfils are handled before name lookup
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Start with the longest tests, so that the run does not wait for them at the end."""
    items.sort(key=lambda item: "/test_every_screen.py::" not in item.nodeid)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Yield a headless Chromium."""
    if _CHROMIUM is None:
        pytest.skip("there is no chromium on this machine")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=_CHROMIUM, args=_FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture
def page(browser: Browser, site: str) -> Iterator[Page]:
    """Yield an empty page that is closed before its site; its errors fail the test."""
    context = browser.new_context()
    new_page = context.new_page()
    errors: list[str] = []
    new_page.on("pageerror", lambda error: errors.append(str(error)))
    new_page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    yield new_page
    context.close()
    assert errors == []


@pytest.fixture
def site(app: object) -> Iterator[str]:
    """Yield the address of the application on a real socket."""
    with serve_app(app) as address:
        yield address


@pytest.fixture
def shop(page, site, brand):
    """Return a site of the brand, whose program has the affiliates ben and eva."""
    program_id = brand.program(cookie_window_days=45)
    for slug in ("ben", "eva"):
        brand.affiliate(f"{slug}-{program_id.hex[-12:]}")
    shop_site = ShopSite(page, site, program_id)
    shop_site.ben, shop_site.eva = (f"{slug}-{program_id.hex[-12:]}" for slug in ("ben", "eva"))
    return shop_site


@pytest.fixture
def window(browser, site):
    """Yield a function that opens a page; its requests to other origins and its console messages fail the test.

    `other_origin` is another origin that it may request, `expected_statuses` the error statuses that the test provokes.
    """
    contexts, errors = [], []

    def open_window(*, other_origin=None, expected_statuses=(409, 410, 422), **options):
        context = browser.new_context(base_url=site, **options)
        contexts.append(context)

        context.on(
            "request", lambda request: None if _is_from(request.url, site, other_origin) else errors.append(request.url)
        )
        if options.get("java_script_enabled", True):
            context.add_init_script(_VIOLATIONS)
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on(
            "console",
            lambda message: None if _is_expected(message, expected_statuses) else errors.append(message.text),
        )
        return page

    yield open_window
    for context in contexts:
        context.close()
    assert errors == []


def _is_from(url, *origins):
    return any(url.startswith(f"{origin}/") for origin in origins if origin)


def _is_expected(message, statuses):
    """Return whether a console message only reports an expected status, or an autofocus that came after typing.

    A live part's request may be answered with 401 after the user signed out. A fragment opened as a page of its own
    names no icon, so a Chromium with windows requests /favicon.ico.
    """
    if message.text.startswith("Autofocus processing was blocked") or message.location["url"].endswith("/favicon.ico"):
        return True
    expected = (*statuses, 401) if is_poll(message.location["url"]) else statuses
    return any(f"the server responded with a status of {status}" in message.text for status in expected)
