"""Clicks and keys that lead to another page in a browser, and wait until that page has loaded.

A click returns while the old page may still be there: then the next assertion or click would apply to the old page, and
a navigation would abort the form that is being sent. So tests use `press` or `expect_page_load` for anything that leads
to another page; `tests/rules/pages/test_page_waits.py` holds that.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Locator, Page


@contextmanager
def expect_page_load(page: Page) -> Iterator[None]:
    """After the block, wait until the page that it leads to has loaded, after all redirects.

    A new history entry of the same page would be a navigation, but not a page load.
    """
    with page.expect_event("load"):
        yield


def press(target: Locator, key: str | None = None) -> None:
    """Click something that leads to another page, or press a key on it, and wait for the page."""
    with expect_page_load(target.page):
        if key is None:
            target.click()
        else:
            target.press(key)


def press_enter(page: Page) -> None:
    """Press Enter in the focused element, which leads to another page, and wait for the page."""
    with expect_page_load(page):
        page.keyboard.press("Enter")
