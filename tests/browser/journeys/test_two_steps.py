"""An application in two steps, from the brand's questions to the applicant's answers, without scripts, at 320 px.

Source: tracking spec, "Public storefront" (apply) and section 6, affiliate.application_completed.
"""

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from models import db
from models.organization import organizations
from tests.support.api.applications import list_events, list_second_step_links
from tests.support.job_queues import drain
from tests.support.pages.navigation import press

_AXE = Axe()
_OPTIONS = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"], "resultTypes": ["violations"]}
_NARROW = {"width": 320, "height": 800}


def test_two_step_application_is_completed(payroll, site, email, enter, window):
    brand, handle = payroll.brand, f"steps-{payroll.brand.id.hex}"
    with db.unit_of_work(brand.id):
        organizations.update(brand.id, {"subdomain": handle})
    owner, stranger = (window(java_script_enabled=False, viewport=_NARROW, expected_statuses=(400,)) for _ in range(2))

    _create_form(enter(owner), f"{site}/dashboard/programs/{brand.programs[0]}/application-form")
    stranger.goto(f"{site}/p/{handle}")
    stranger.get_by_label("Email").fill(email)
    press(stranger.get_by_role("button", name="Send application"))
    assert "An answer is required." in stranger.get_by_role("alert").inner_text()
    stranger.get_by_label("Who are you?").fill("Ada & Ben")
    press(stranger.get_by_role("button", name="Send application"))
    stranger.get_by_role("heading", name="Thank you").wait_for()
    drain("mail")
    (link,) = list_second_step_links(brand, email)
    stranger.goto(site + link)
    stranger.get_by_label("Where mostly?").select_option("Blog")
    press(stranger.get_by_role("button", name="Send answers"))
    stranger.get_by_role("heading", name="Thank you").wait_for()

    owner.goto(f"{site}/dashboard/affiliates/applications")
    owner.get_by_role("table", name="Applications").get_by_text("View", exact=False).first.click()
    applications = owner.get_by_role("table", name="Applications")
    expect(applications).to_contain_text("Who are you?", use_inner_text=True)
    expect(applications).to_contain_text("Ada & Ben", use_inner_text=True)
    assert [
        data["applicationAnswers"] for type, data in list_events(brand) if type == "affiliate.application_completed"
    ]
    for address in (f"/dashboard/programs/{brand.programs[0]}/application-form", f"/p/{handle}", link):
        page = window(viewport=_NARROW, storage_state=owner.context.storage_state())
        assert _list_faults(page, address) == [], address


def _create_form(page, address):
    page.goto(address)
    page.get_by_label("Two steps: follow-up questions by email").check()
    for number, words in ((1, "Who are you?"), (2, "Where mostly?")):
        press(page.get_by_role("button", name="Add a question"))
        page.get_by_label("Question", exact=True).nth(number - 1).fill(words)
    page.get_by_label("Required").nth(0).check()
    page.get_by_label("Answer type", exact=True).nth(1).select_option("Multiple choice")
    page.get_by_label("Step", exact=True).nth(1).select_option("Second")
    page.get_by_label("Options").nth(1).fill("Blog\nNews")
    press(page.get_by_role("button", name="Save form").first)
    page.get_by_text("Saved.").wait_for()


def _list_faults(page, address):
    """Return the ids of axe's violations, and "too wide" if the page overflows a narrow window."""
    page.goto(address)
    page.evaluate(_AXE.axe_script)
    violations = page.evaluate("options => axe.run(document, options)", _OPTIONS)["violations"]
    is_wide = page.evaluate("document.documentElement.scrollWidth > innerWidth")
    return [violation["id"] for violation in violations] + (["too wide"] if is_wide else [])
