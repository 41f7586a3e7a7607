"""Live parts of a page in a real browser. Source: the pages' interface, "Every page"; WCAG 2.2.2."""

import pytest
from playwright.sync_api import expect

from pages import static_files, template_filters

_POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'"
_FRAME = """<!doctype html><html lang="en"><title>Live</title>
<meta name="htmx-config" content='{{"morphIgnore": ["data-htmx-powered", "open"], "noSwap": [204, 304, "4xx", "5xx"],
"includeIndicatorCSS": false, "history": false}}'>
<script src="{htmx}" defer></script><script src="{own}" defer></script><main><h1>Live</h1>
<p role="status" id="live-state" data-words="Not live since"></p>
<button type="button" data-hold aria-pressed="false" hidden>Hold still</button>{part}</main>"""


# What the page asks for, counted where it asks: what is on its way to the test may come late.
_COUNTED = "const ask = fetch; window.asked = 0; window.fetch = (...all) => { window.asked += 1; return ask(...all) }"


class Board:
    """What a live part shows, and how often it was asked for."""

    def __init__(self):
        self.figure, self.asked, self.statuses, self.status = 1, 0, [], 200

    @property
    def inside(self):
        """The figure, something to open and something to type into."""
        return (
            f"<p id='figure'>{self.figure}</p><details id='more'><summary>More</summary><p>Opened</p></details>"
            "<label>Why <input id='why' name='why'></label>"
        )

    def part(self):
        """Return the part as a page holds it."""
        return (
            f'<div id="part" data-live hx-get="/live/part?seen={template_filters.content_version(self.inside)}"'
            f' hx-trigger="every 100ms" hx-swap="outerMorph">{self.inside}</div>'
        )

    def answer(self, url):
        """Return the part to whoever has another version, as the service does."""
        self.asked += 1
        is_known = self.status == 200 and url.partition("seen=")[2] == template_filters.content_version(self.inside)
        self.statuses.append(204 if is_known else self.status)
        return {"status": self.statuses[-1], "body": "" if is_known else self.part(), "content_type": "text/html"}


@pytest.fixture
def board():
    return Board()


@pytest.fixture
def live(browser, site, board):
    """A page with the live part, beside the scripts that the site serves."""
    context = browser.new_context()
    context.add_init_script(_COUNTED)
    page, wrong = context.new_page(), []
    page.on("console", lambda said: wrong.append(said.text) if "status of" not in said.text else None)
    whole = _FRAME.format(htmx=static_files.url("htmx-4.0.1.min.js"), own=static_files.url("app.js"), part=board.part())
    headers = {"Content-Security-Policy": _POLICY, "Content-Type": "text/html"}
    context.route("**/live", lambda route: route.fulfill(body=whole, headers=headers))
    context.route("**/live/part?*", lambda route: route.fulfill(**board.answer(route.request.url)))
    page.goto(f"{site}/live")
    yield page
    context.close()
    assert wrong == []


def _wait_for_polls(live, board, more=3):
    until = board.asked + more
    while board.asked < until:  # as long as the test may take
        live.wait_for_timeout(25)


def _assert_no_poll(live):
    asked = live.evaluate("asked")
    assert asked > 0
    live.wait_for_timeout(500)
    assert live.evaluate("asked") == asked


def test_live_update_keeps_what_the_user_does(live, board):
    live.locator("summary").click()
    live.get_by_label("Why").fill("because")
    live.get_by_label("Why").press("ArrowLeft")
    _wait_for_polls(live, board)
    assert set(board.statuses) == {204}
    assert live.evaluate("history.state") is None  # going back is the browser's own

    board.figure = 2
    live.locator("#figure", has_text="2").wait_for()
    _wait_for_polls(live, board)

    assert board.statuses[-1] == 204  # the new version is asked for from now on
    expect(live.get_by_label("Why")).to_have_value("because")
    expect(live.get_by_label("Why")).to_be_focused()
    assert live.evaluate("document.activeElement.selectionStart") == len("because") - 1
    assert live.locator("details").evaluate("one => one.open")


def test_frozen_live_part_sends_no_request(live, board):
    _wait_for_polls(live, board)
    hold = live.get_by_role("button", name="Hold still")
    hold.click()
    expect(hold).to_have_attribute("aria-pressed", "true")
    _assert_no_poll(live)

    hold.click()
    expect(hold).to_have_attribute("aria-pressed", "false")
    _wait_for_polls(live, board)


def test_hidden_page_sends_no_request(live, board):
    _wait_for_polls(live, board)
    live.evaluate("Object.defineProperty(document, 'hidden', {get: () => true, configurable: true})")
    _assert_no_poll(live)


def test_failing_live_part_backs_off_and_recovers(live, board):
    board.status = 503
    live.get_by_text("Not live since").wait_for()
    expect(live.locator("#figure")).to_have_text("1")
    assert live.locator("h1").count() == 1

    asked = board.asked
    live.wait_for_timeout(600)
    assert board.asked <= asked + 1

    board.status, board.figure = 200, 3
    live.locator("#figure", has_text="3").wait_for()
    expect(live.locator("#live-state")).to_have_text("")
