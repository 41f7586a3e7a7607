"""The description as people meet it. Source: core spec, section 9."""


def test_the_page_names_every_resource_and_leads_to_its_operations(page, site):
    page.goto(f"{site}/docs")
    page.get_by_role("navigation").get_by_role("link", name="Create a program").click()

    assert page.get_by_role("heading", level=1).inner_text() == "Finderfee API"
    assert page.get_by_role("heading", name="POST /api/v1/programs", exact=True).is_visible()
    assert "#create_program" in page.url


def test_a_body_is_shown_with_its_rules(page, site):
    page.goto(f"{site}/docs")
    operation = page.locator("article", has=page.get_by_role("heading", name="POST /api/v1/programs", exact=True))

    name = operation.locator("tr", has=page.get_by_text("name", exact=True)).first
    assert "required" in name.inner_text()
    assert "Manager and above" in operation.inner_text()


def test_nothing_sticks_out_on_a_telephone(page, site):
    page.set_viewport_size({"width": 360, "height": 740})
    page.goto(f"{site}/docs")

    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_the_links_to_the_other_descriptions_work(page, site):
    page.goto(f"{site}/docs")

    for name in ("OpenAPI 3.1", "plain text"):
        address = page.get_by_role("link", name=name, exact=True).get_attribute("href")
        assert page.request.get(f"{site}{address}").ok
