"""Live parts of a page in a real browser. Source: the pages' interface, "Every page"; WCAG 2.2.2."""

import pytest
from playwright.sync_api import expect

from pages import static_files, template_filters

_POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'"
_FRAME = """<!doctype html><html lang="en"><title>Live</title>
<meta name="htmx-config" content='{{"morphIgnore": ["data-htmx-powered", "open"], "noSwap": [204, 304, "4xx", "5xx"],
"includeIndicatorCSS": false, "history": false}}'>
<script src="{script}" defer></script><main><h1>Live</h1>
<p role="status" id="live-state" data-words="Not live since"></p>
<button type="button" data-hold aria-pressed="false" hidden>Pause live updates</button>{part}</main>"""


# Counts the page's requests in the page itself, because they may reach the test late.
_COUNT_REQUESTS = (
    "const send = fetch; window.requests = 0; window.fetch = (...all) => { window.requests += 1; return send(...all) }"
)


class Board:
    """The content of a live part and the requests for it."""

    def __init__(self):
        self.figure, self.request_count, self.statuses, self.status = 1, 0, [], 200

    @property
    def content(self):
        """Return the HTML of the figure, of details to open and of an input."""
        return (
            f"<p id='figure'>{self.figure}</p><details id='more'><summary>More</summary><p>Opened</p></details>"
            "<label>Why <input id='why' name='why'></label>"
        )

    def build_part(self):
        """Return the HTML of the live part."""
        return (
            f'<div id="part" data-live hx-get="/live/part?seen={template_filters.content_version(self.content)}"'
            f' hx-trigger="every 100ms" hx-swap="outerMorph">{self.content}</div>'
        )

    def respond(self, url):
        """Return the part unless the page has its current version, as the service does."""
        self.request_count += 1
        is_known = self.status == 200 and url.partition("seen=")[2] == template_filters.content_version(self.content)
        self.statuses.append(204 if is_known else self.status)
        return {"status": self.statuses[-1], "body": "" if is_known else self.build_part(), "content_type": "text/html"}


@pytest.fixture
def board():
    return Board()


@pytest.fixture
def live(browser, site, board):
    """Yield a page with the live part and the script that the site serves."""
    context = browser.new_context()
    context.add_init_script(_COUNT_REQUESTS)
    page, errors = context.new_page(), []
    page.on("console", lambda message: errors.append(message.text) if "status of" not in message.text else None)
    html = _FRAME.format(script=static_files.url("live.js"), part=board.build_part())
    headers = {"Content-Security-Policy": _POLICY, "Content-Type": "text/html"}
    context.route("**/live", lambda route: route.fulfill(body=html, headers=headers))
    context.route("**/live/part?*", lambda route: route.fulfill(**board.respond(route.request.url)))
    page.goto(f"{site}/live")
    yield page
    context.close()
    assert errors == []


def _wait_for_polls(live, board, number=3):
    expected = board.request_count + number
    while board.request_count < expected:  # until the test's timeout
        live.wait_for_timeout(25)


def _assert_no_poll(live):
    request_count = live.evaluate("requests")
    assert request_count > 0
    live.wait_for_timeout(500)
    assert live.evaluate("requests") == request_count


def test_live_update_keeps_input_focus_and_open_details(live, board):
    live.locator("summary").click()
    live.get_by_label("Why").fill("because")
    live.get_by_label("Why").press("ArrowLeft")
    _wait_for_polls(live, board)
    assert set(board.statuses) == {204}
    assert live.evaluate("history.state") is None  # htmx does not replace the browser's history

    board.figure = 2
    live.locator("#figure", has_text="2").wait_for()
    _wait_for_polls(live, board)

    assert board.statuses[-1] == 204  # the page now requests with the new version
    expect(live.get_by_label("Why")).to_have_value("because")
    expect(live.get_by_label("Why")).to_be_focused()
    assert live.evaluate("document.activeElement.selectionStart") == len("because") - 1
    assert live.locator("details").evaluate("details => details.open")


def test_frozen_live_part_sends_no_request(live, board):
    _wait_for_polls(live, board)
    hold = live.get_by_role("button", name="Pause live updates")
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

    request_count = board.request_count
    live.wait_for_timeout(600)
    assert board.request_count <= request_count + 1

    board.status, board.figure = 200, 3
    live.locator("#figure", has_text="3").wait_for()
    expect(live.locator("#live-state")).to_have_text("")
