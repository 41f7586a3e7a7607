"""The documentation in a real browser. Source: core spec, section 9; WCAG 2.2 A and AA as far as axe checks it."""

import json

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from api.description import guide
from api.edge import resources
from tests.support.pages.navigation import press

_AXE = Axe()
_LEVELS = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
_LOOKS = [("light", 1280), ("dark", 320)]
_MAX_BYTES, _MAX_REQUESTS = 60_000, 5
_OF_EACH_KIND = ("", "receiving-webhooks", "events", "errors", "webhooks")
_CHAPTERS = ["", *guide.CHAPTERS, "events", "errors", *(r.tag for r in resources.ALL)]


def _find_faults(page):
    page.evaluate(_AXE.axe_script)
    for scheme, width in _LOOKS:
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 800})
        result = page.evaluate("options => axe.run(document, options)", _LEVELS)
        for violation in result["violations"]:
            yield f"{scheme} {width} {violation['id']}: {[node['html'][:120] for node in violation['nodes'][:3]]}"
        if (wide := page.evaluate("document.documentElement.scrollWidth")) > width:
            yield f"{scheme} {width}: {wide} px wide"


@pytest.fixture
def test_key(brand):
    """A test key of the brand."""
    return brand.other_key(is_test=True).api_key


@pytest.mark.parametrize("chapter", _OF_EACH_KIND)
def test_chapter_is_accessible_and_small(page, site, chapter):
    finished = []
    page.on("requestfinished", lambda request: finished.append(request))

    page.goto(f"{site}/docs/{chapter}".removesuffix("/"))

    assert len(finished) <= _MAX_REQUESTS
    assert sum(sum(request.sizes().values()) for request in finished) <= _MAX_BYTES
    assert list(_find_faults(page)) == []


def test_no_chapter_overflows_on_a_phone(page, site):
    page.set_viewport_size({"width": 320, "height": 640})
    widths = {}
    for chapter in _CHAPTERS:
        page.goto(f"{site}/docs/{chapter}".removesuffix("/"))
        page.evaluate("for (const part of document.querySelectorAll('main details')) part.open = true")
        widths[chapter] = page.evaluate("document.documentElement.scrollWidth")

    assert {chapter: width for chapter, width in widths.items() if width > 320} == {}


def test_navigation_leads_to_the_operations_of_a_group(page, site):
    page.goto(f"{site}/docs")
    page.get_by_role("navigation").get_by_role("link", name="Programs").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Programs")
    page.get_by_role("link", name="Create a program").first.click()

    page.wait_for_url("**/docs/programs#createProgram")
    operation = page.locator("#createProgram")
    expect(operation).to_be_in_viewport()
    name = operation.locator("tr", has=page.get_by_text("name", exact=True)).first
    assert "required" in name.inner_text()
    assert "Manager or a higher one" in operation.inner_text()
    assert "Idempotency-Key" in operation.inner_text()


@pytest.mark.parametrize(
    ("former", "address"),
    [
        ("createProgram", "/docs/programs#createProgram"),
        ("signing", "/docs/signed-sales"),
        ("event-conversion.created", "/docs/events#event-conversion.created"),
    ],
)
def test_former_anchor_leads_to_its_page(page, site, former, address):
    page.goto(f"{site}/docs#{former}")

    page.wait_for_url(f"{site}{address}")


def test_chosen_language_is_the_language_of_every_example(page, site):
    page.goto(f"{site}/docs/programs")
    operation = page.locator("#listPrograms")
    expect(operation.get_by_text("curl -s")).to_be_visible()

    operation.get_by_role("radio", name="Python").check()

    expect(operation.get_by_text("client.programs.list_programs()")).to_be_visible()
    expect(operation.get_by_text("curl -s")).to_be_hidden()
    expect(page.locator("#createProgram").get_by_text("client.programs.create_program(")).to_be_visible()
    page.goto(f"{site}/docs/affiliates")
    expect(page.locator("#listAffiliates").get_by_text("client.affiliates.list_affiliates()")).to_be_visible()


def test_filter_keeps_entries_with_all_words(page, site):
    page.goto(f"{site}/docs")
    page.keyboard.press("/")
    page.keyboard.type("payouts run")
    expect(page.locator("#createProgram")).to_be_hidden()
    expect(page.locator("#runPayouts")).to_be_visible()

    page.keyboard.type(" zzz")
    expect(page.locator("[data-words]:visible")).to_have_count(0)
    expect(page.get_by_text("No operation matches.")).to_be_visible()

    page.keyboard.press("Escape")
    expect(page.locator("#createProgram")).to_be_visible()


def test_menu_is_closed_on_a_phone(page, site):
    page.set_viewport_size({"width": 360, "height": 740})
    page.goto(f"{site}/docs")
    contents = page.get_by_role("navigation")

    expect(contents.get_by_role("link", name="Webhook endpoints")).to_be_hidden()
    assert page.get_by_role("heading", level=1).bounding_box()["y"] < 200

    page.get_by_text("Menu", exact=True).click()
    contents.get_by_role("link", name="Webhook endpoints").click()
    page.wait_for_url("**/docs/webhooks")


def test_documentation_is_complete_without_scripts(browser, site):
    context = browser.new_context(java_script_enabled=False, viewport={"width": 1200, "height": 800})
    page = context.new_page()
    page.goto(f"{site}/docs")
    page.get_by_role("navigation").get_by_role("link", name="Programs").click()
    operation = page.locator("#createProgram")

    expect(operation.get_by_text("curl -s")).to_be_visible()
    operation.get_by_role("radio", name="JavaScript").check()
    expect(operation.get_by_text("await client.programs.createProgram(")).to_be_visible()
    expect(operation.get_by_text("curl -s")).to_be_hidden()
    expect(page.get_by_role("button")).to_have_count(0)

    page.set_viewport_size({"width": 360, "height": 740})
    page.goto(f"{site}/docs#createProgram")
    expect(page.get_by_label("Filter operations")).to_be_hidden()
    expect(page.get_by_role("navigation").get_by_role("link", name="Programs")).to_be_hidden()
    page.locator("#createProgram a").click()
    page.wait_for_url("**/docs/programs#createProgram")
    context.close()


def test_error_code_links_to_its_paragraph(page, site):
    page.goto(f"{site}/docs/webhooks")
    refusals = page.locator("#createWebhookEndpoint details", has=page.get_by_text("Refusals", exact=True))
    refusals.locator("summary").click()
    press(refusals.get_by_role("link", name="unknown_event"))

    assert page.url.endswith("/docs/errors#unknown_event")
    expect(page.locator("#unknown_event")).to_contain_text("event type does not exist")


def test_links_to_other_descriptions_work(page, site):
    page.goto(f"{site}/docs")

    for name in ("OpenAPI 3.1", "plain text"):
        address = page.get_by_role("link", name=name, exact=True).first.get_attribute("href")
        assert page.request.get(f"{site}{address}").ok


def _open_form(page, operation):
    page.locator(f"#{operation}").get_by_role("button", name="Try it").click()
    return page.locator(f"#{operation} .send")


def test_read_is_sent_with_a_test_key(page, site, brand, test_key):
    brand.program(name="Tea")
    requests = []
    page.on("request", lambda request: requests.append(request))
    page.goto(f"{site}/docs/programs")
    form = _open_form(page, "listPrograms")
    form.get_by_label("Test key").fill(test_key)
    form.get_by_label("take").fill("1")
    form.get_by_role("button", name="Send request").click()

    expect(form.get_by_text("200 OK")).to_be_visible()
    expect(form.get_by_label("Response headers")).to_contain_text("x-request-id: ")
    assert json.loads(form.get_by_label("Response body").inner_text())["items"][0]["name"] == "Tea"
    [call] = [request for request in requests if "/api/" in request.url]
    assert call.url == f"{site}/api/v1/programs?take=1"
    assert call.all_headers()["authorization"] == f"Bearer {test_key}"
    assert not any(test_key in request.url for request in requests)
    assert list(_find_faults(page)) == []


def test_test_record_is_created_and_a_refusal_is_explained(browser, site, brand, test_key):
    program = brand.program()
    # A browser reports each refusal on its console, which fails the tests with the fixture `page`.
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{site}/docs/affiliates")
    form = _open_form(page, "createAffiliate")
    form.get_by_label("Test key").fill(test_key)
    form.get_by_label("Body").fill(json.dumps({"programId": str(program), "email": "robin@example.com"}))
    form.get_by_role("button", name="Send request").click()

    expect(form.get_by_text("201 CREATED")).to_be_visible()
    assert json.loads(form.get_by_label("Response body").inner_text())["isTest"] is True

    form.get_by_role("button", name="Send request").click()
    press(form.get_by_role("link", name="What this means and what to do"))
    assert page.url == f"{site}/docs/errors#affiliate_already_exists"
    context.close()


def test_key_is_kept_for_the_tab_only(page, site, browser, test_key):
    page.goto(f"{site}/docs/programs")
    form = _open_form(page, "listPrograms")
    form.get_by_label("Test key").fill(test_key)
    form.get_by_role("button", name="Send request").click()
    expect(form.get_by_text("200 OK")).to_be_visible()

    page.goto(f"{site}/docs/affiliates")
    expect(_open_form(page, "listAffiliates").get_by_label("Test key")).to_have_value(test_key)
    assert page.evaluate("localStorage.length") == 0
    assert page.evaluate("document.cookie") == ""
    other = page.context.new_page()
    other.goto(f"{site}/docs/affiliates")
    expect(_open_form(other, "listAffiliates").get_by_label("Test key")).to_have_value("")


@pytest.mark.parametrize("kind", ["live", "nonsense", "with a line break"])
def test_other_key_is_not_sent(page, site, brand, kind):
    key = {"live": brand.api_key, "nonsense": "secret", "with a line break": "ff_test_a b"}[kind]
    requests = []
    page.on("request", lambda request: requests.append(request.url))
    page.goto(f"{site}/docs/programs")
    form = _open_form(page, "listPrograms")
    form.get_by_label("Test key").fill(key)
    form.get_by_role("button", name="Send request").click()

    expect(form.get_by_text("Use a test key: it begins with ff_test_. Nothing was sent.")).to_be_visible()
    expect(form.get_by_label("Test key")).to_have_attribute("aria-invalid", "true")
    assert [url for url in requests if "/api/" in url] == []
    assert page.evaluate("sessionStorage.length") == 0


def test_request_carries_no_cookie(page, site, test_key):
    page.context.add_cookies([{"name": "finderfee-session", "value": "secret", "url": site}])
    requests = []
    page.on("request", lambda request: requests.append(request))
    page.goto(f"{site}/docs/programs")
    form = _open_form(page, "listPrograms")
    form.get_by_label("Test key").fill(test_key)
    form.get_by_role("button", name="Send request").click()

    expect(form.get_by_text("200 OK")).to_be_visible()
    [call] = [request for request in requests if "/api/" in request.url]
    assert "cookie" not in call.all_headers()
