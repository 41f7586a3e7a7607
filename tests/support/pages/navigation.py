"""What leads from one page to another in a browser, and is over when the other page is there.

A click is done when it is clicked: the old page may still stand then. What is read at once is read there, what is
pressed at once is pressed there, and whoever goes elsewhere cuts off the form that is being sent. So whatever
leads to another page is pressed by `press`, or within `arriving`; `tests/rules/pages/test_page_waits.py` holds that.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Locator, Page


@contextmanager
def arriving(page: Page) -> Iterator[None]:
    """Wait after the block until the page that it leads to has loaded, behind all redirects.

    A new entry of the history, or the same one again, is a navigation as well, but no page.
    """
    with page.expect_event("load"):
        yield


def press(pressed: Locator, key: str | None = None) -> None:
    """Click something that leads to another page, or press a key on it, and be there."""
    with arriving(pressed.page):
        if key is None:
            pressed.click()
        else:
            pressed.press(key)


def press_enter(page: Page) -> None:
    """Press Enter where the focus is, which leads to another page, and be there."""
    with arriving(page):
        page.keyboard.press("Enter")
