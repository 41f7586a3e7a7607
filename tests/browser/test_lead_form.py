"""The hosted lead form in a real browser without scripts. Source: core spec, "Program" (hosted lead form)."""

from tests.support.pages.navigation import press, press_enter
from tests.support.rows import paid_leads
from tests.support.rows.brands import Brand


def test_lead_form_corrects_an_email_without_scripts(app, browser, site, monkeypatch):
    monkeypatch.setattr("adapters.fraud.human_check.MIN_FILLING_S", 0)
    brand = Brand.create(app)
    slug = paid_leads.create_campaign(brand, name="Spring")
    context = browser.new_context(java_script_enabled=False, user_agent=paid_leads.BROWSER)
    page = context.new_page()
    page.set_viewport_size({"width": 360, "height": 740})

    with paid_leads.configure_human_check(URL="local"):
        page.goto(f"{site}/lead/{slug}")
        page.get_by_label("Email address").fill("ada")
        press(page.get_by_role("button", name="Send"))
        error, main_box = page.get_by_role("alert").inner_text(), page.locator("main").bounding_box()
        page.get_by_label("Email address").fill("ada@inbox.example.org")
        press_enter(page)
        page.get_by_role("heading", name="Thank you").wait_for()
    context.close()

    assert "Enter an email address" in error
    assert main_box is not None
    assert main_box["x"] + main_box["width"] <= 360
    assert [status for status, *_ in paid_leads.list_lead_conversions(brand)] == ["Pending"]
