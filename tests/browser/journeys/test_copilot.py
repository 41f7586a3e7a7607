"""A user asks the co-pilot, reads its proposal and confirms it: with scripts and without."""

import time

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tests.support.job_queues import drain
from tests.support.outside import model as models
from tests.support.outside.model import build_reply
from tests.support.pages.navigation import press
from tests.support.rows.payroll import Payroll
from tests.support.settings_overrides import override_settings

_AXE = Axe()
_LEVELS = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
_MARKUP = "<b>Ada Ek</b> waits: ![x](https://evil.test/x.png)\nShall I let her in?"


@pytest.fixture
def payroll(app, site, monkeypatch):
    """Yield a brand of a service with a scripted model that proposes to approve the waiting affiliate."""
    with models.play_model() as model:
        copilot = {"url": model.url, "model": "scripted", "timeout_s": 10}
        override_settings(monkeypatch, web={"public_base_url": site}, copilot=copilot)
        new_payroll = Payroll.create(app)
        ada = str(new_payroll.brand.affiliate("ada", status="Pending", approved_at=None, full_name="Ada Ek"))
        model.script(
            build_reply("", ("list_affiliates", {"status": "Pending"})),
            build_reply(_MARKUP, ("approve_affiliate", {"affiliateId": ada})),
            build_reply("Ada Ek is approved."),
        )
        yield new_payroll


@pytest.fixture(params=[True, False], ids=["scripts", "no scripts"])
def page(request, window, enter):
    """Return a Manager's window, with and without scripts."""
    opened = enter(window(java_script_enabled=request.param), "Manager", "manager@example.com")
    opened.has_scripts = request.param
    return opened


def _wait_for_text(page, words):
    """Run the workers until the page shows a text; without scripts the user reloads it."""
    deadline = time.monotonic() + 60
    while not page.get_by_text(words).count() and time.monotonic() < deadline:
        drain("copilot")
        if page.has_scripts:
            page.wait_for_timeout(300)
        elif page.get_by_role("link", name="Refresh").count():
            press(page.get_by_role("link", name="Refresh"))
    expect(page.get_by_text(words)).to_be_visible()


def _check_accessibility(page):
    page.evaluate(_AXE.axe_script)
    for scheme, width in (("light", 1280), ("dark", 320)):
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 800})
        violations = page.evaluate("options => axe.run(document, options)", _LEVELS)["violations"]
        assert [(rule["id"], [node["html"][:120] for node in rule["nodes"]]) for rule in violations] == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_copilot_answers_and_runs_a_confirmed_proposal(page, payroll):
    press(page.get_by_role("navigation", name="Dashboard").get_by_role("link", name="Co-pilot"))
    page.get_by_label("Your question").fill("Who waits?")
    press(page.get_by_role("button", name="Ask"))
    _wait_for_text(page, "Shall I let her in?")

    expect(page.get_by_text("<b>Ada Ek</b> waits")).to_be_visible()
    assert page.get_by_role("heading", name="Approve affiliate").count() == 1
    assert page.locator("main img, main a[href*=evil]").count() == 0
    if page.has_scripts:
        _check_accessibility(page)
    assert payroll.brand.rows("select status from affiliate where full_name = 'Ada Ek'") == [("Pending",)]
    press(page.get_by_role("button", name="Confirm Approve affiliate"))
    _wait_for_text(page, "Ada Ek is approved.")

    expect(page.get_by_role("button", name="Confirm")).to_have_count(0)
    assert payroll.brand.rows("select status from affiliate where full_name = 'Ada Ek'") == [("Approved",)]
    press(page.get_by_role("button", name="Delete conversation"))
    expect(page.get_by_text("No conversations yet")).to_be_visible()
