"""The review queue with keyboard shortcuts, in a real browser."""

import pytest
from playwright.sync_api import expect

from tests.support.pages.navigation import expect_page_load, press


@pytest.fixture
def queue(window, link):
    """Return a page with the queue of two uncredited sales, the newer one of 0.20 USD first."""
    page = window()
    page.goto(link("owner"))
    page.goto("/dashboard/review")
    return page


def _read_amounts(page):
    return [text.split(" ")[0] for text in page.locator("[data-item] b.num").all_text_contents()]


def _focused_index(page):
    return page.evaluate("[...document.querySelectorAll('[data-item]')].indexOf(document.activeElement)")


def test_keys_navigate_the_focused_review_queue(queue):
    assert _read_amounts(queue) == ["0.20", "1,234,567.89"]
    queue.keyboard.press("d")
    assert len(_read_amounts(queue)) == 2  # the focus was elsewhere

    queue.locator("[data-item]").first.focus()
    for key, index in (("j", 1), ("j", 1), ("k", 0), ("k", 0)):
        queue.keyboard.press(key)
        assert _focused_index(queue) == index
    queue.keyboard.press("Control+d")
    queue.keyboard.press("x")
    assert len(_read_amounts(queue)) == 2

    with expect_page_load(queue):
        queue.keyboard.press("d")
    assert _read_amounts(queue) == ["1,234,567.89"]
    expect(queue.locator("[data-item]")).to_be_focused()


def test_first_button_of_a_sale_opens_crediting(queue):
    queue.locator("[data-item]").first.focus()
    with expect_page_load(queue):
        queue.keyboard.press("a")

    expect(queue.get_by_role("heading", name="New conversion")).to_be_visible()
    assert queue.get_by_label("Amount of the sale").input_value() == "0.20"


def test_review_queue_is_decided_without_scripts(window, link):
    page = window(java_script_enabled=False)
    page.goto(link("owner"))
    page.goto("/dashboard/review")
    press(page.get_by_role("button", name="Dismiss Paused").first)

    assert _read_amounts(page) == ["1,234,567.89"]
