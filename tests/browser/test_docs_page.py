"""The page of the API description in a real browser. Source: core spec, section 9."""

from playwright.sync_api import expect

from tests.support.pages.navigation import press


def test_docs_page_links_every_resource_to_its_operations(page, site):
    page.goto(f"{site}/docs")
    contents = page.get_by_role("navigation")
    contents.get_by_text("Programs", exact=True).click()
    contents.get_by_role("link", name="Create a program").click()

    page.wait_for_url("**#createProgram")
    expect(page.get_by_role("heading", level=1)).to_have_text("Finderfee API")
    expect(page.locator("#createProgram")).to_be_visible()


def test_docs_page_shows_body_constraints(page, site):
    page.goto(f"{site}/docs")
    operation = page.locator("#createProgram")

    name = operation.locator("tr", has=page.get_by_text("name", exact=True)).first
    assert "required" in name.inner_text()
    assert "Manager and above" in operation.inner_text()
    assert "Idempotency-Key" in operation.inner_text()
    assert 'curl -s "' in operation.inner_text()


def test_filter_keeps_entries_with_all_words(page, site):
    page.goto(f"{site}/docs")
    page.keyboard.press("/")
    page.keyboard.type("payouts run")
    expect(page.get_by_role("heading", name="Keys and test keys")).to_be_hidden()
    expect(page.locator("#createProgram")).to_be_hidden()
    visible_paths = page.locator("article:visible h3 .path").all_inner_texts()

    assert "/api/v1/payouts/run" in visible_paths
    assert "/api/v1/programs" not in visible_paths
    expect(
        page.get_by_role("navigation").get_by_role(
            "link", name="Pay the due and ready amounts, confirmed by their total"
        )
    ).to_be_visible()

    page.keyboard.type(" zzz")
    expect(page.locator("article:visible")).to_have_count(0)
    expect(page.get_by_text("Nothing here has these words.")).to_be_visible()

    page.keyboard.press("Escape")
    expect(page.locator("#createProgram")).to_be_visible()


def test_routes_are_collapsed_on_a_phone(page, site):
    page.set_viewport_size({"width": 360, "height": 740})
    page.goto(f"{site}/docs")
    contents = page.get_by_role("navigation")

    expect(contents.get_by_text("Webhook endpoints", exact=True)).to_be_hidden()
    assert page.get_by_role("heading", level=1).bounding_box()["y"] < 200

    contents.locator("summary").first.click()
    contents.get_by_text("Webhook endpoints", exact=True).click()
    contents.get_by_role("link", name="Create an endpoint").click()

    page.wait_for_url("**#createWebhookEndpoint")
    expect(contents.get_by_text("Webhook endpoints", exact=True)).to_be_hidden()


def test_docs_page_is_complete_without_scripts(browser, site):
    context = browser.new_context(java_script_enabled=False, viewport={"width": 1200, "height": 800})
    page = context.new_page()
    page.goto(f"{site}/docs")

    assert page.locator("#createProgram").is_visible()
    assert page.get_by_role("navigation").get_by_text("Programs", exact=True).is_visible()
    assert not page.locator("#filter").is_visible()
    context.close()


def test_docs_page_does_not_overflow_on_a_phone(page, site):
    page.set_viewport_size({"width": 360, "height": 740})
    for address in ("/docs", "/docs/errors"):
        page.goto(f"{site}{address}")

        assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_error_code_links_to_its_meaning(page, site):
    page.goto(f"{site}/docs")
    refusals = page.locator("#createWebhookEndpoint details", has=page.get_by_text("Refusals", exact=True))
    refusals.locator("summary").click()
    press(refusals.get_by_role("link", name="unknown_event"))

    assert page.url.endswith("/docs/errors#unknown_event")
    expect(page.locator("#unknown_event")).to_contain_text("event type does not exist")


def test_links_to_other_descriptions_work(page, site):
    page.goto(f"{site}/docs")

    for name in ("OpenAPI 3.1", "plain text", "Error codes"):
        address = page.get_by_role("link", name=name, exact=True).first.get_attribute("href")
        assert page.request.get(f"{site}{address}").ok
