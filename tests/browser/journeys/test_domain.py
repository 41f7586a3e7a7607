"""A brand enters its domain in a real browser, and the page shows its verification."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from domain import jobs
from models import db
from pipelines import work
from tests.support.job_queues import drain
from tests.support.operators import Operator
from tests.support.outside.brand_dns import TARGET, run_name_server
from tests.support.pages.navigation import press


@pytest.fixture
def dns(site, monkeypatch):
    with run_name_server(monkeypatch, public_base_url=site, domain_target=TARGET) as server:
        yield server


def test_domain_is_verified_automatically_after_it_is_entered(app, brand, site, window, dns):
    program, domain = brand.program(), f"partners.{brand.id.hex}.example"
    page = window()
    page.goto(Operator(app).json("sign-in", "owner", "--org", brand.id)["url"])
    page.goto(f"{site}/dashboard/programs/{program}/domain")
    page.get_by_role("textbox", name="Domain").fill(domain)
    press(page.get_by_role("button", name="Save domain"))
    press(page.get_by_role("button", name="Check now"))
    records = page.locator("#found")
    expect(records).to_contain_text("no such name")

    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    copy = page.get_by_role("button", name="Copy Value of the TXT record")
    copy.click()
    expect(copy.get_by_role("status")).to_have_text("Copied")
    value = page.evaluate("navigator.clipboard.readText()")
    dns.zone[f"_finderfee.{domain}", "TXT"] = [f'"{value}"']
    brand.rows("update host_proof set due_at = now() returning name")
    page.evaluate("window.isTheSame = true")
    with db.any_org_work():
        work.enqueue(jobs.DOMAINS_CHECK, organization_id=None)
    drain("upkeep")

    expect(records).to_contain_text("Verified")
    assert page.evaluate("window.isTheSame")
    for scheme, width in (("light", 1280), ("dark", 320)):
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 800})
        assert Axe().run(page).response["violations"] == [], (scheme, width)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), width
