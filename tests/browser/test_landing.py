"""A campaign's landing page in a real browser: it is accessible, and applications work without scripts."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from models import db
from models.organization import organizations
from tests.support.pages.navigation import press, press_enter
from tests.support.rows.images import png

_AXE = Axe()
_MAX_BYTES, _MAX_REQUESTS = 60_000, 5
_LOOKS = [(scheme, width) for scheme in ("light", "dark") for width in (1280, 320)]
_WORDS = {
    "headline": "Recommend the tea that you drink",
    "intro": "Grown by three families. " * 4,
    "sections": [{"title": f"Part {number}", "text": "Words of it. " * 20} for number in range(3)],
    "accentColor": "#ffd400",
}


@pytest.fixture
def address(brand, site):
    handle = f"shop-{brand.id.hex[:20]}"
    with db.unit_of_work(brand.id):
        organizations.update(brand.id, {"name": "Acme", "subdomain": handle, "description": "We make tea."})
    program = brand.program(name="Tea", slug="tea", terms_url="https://acme.example/terms")
    owner = brand.person("Owner")
    for kind in ("logo", "favicon"):
        upload = owner.call("POST", f"/api/organizations/me/logo?kind={kind}", png(64, 64), Content_Type="image/png")
        assert upload.status_code == 200
    hero = owner.call("POST", "/api/v1/programs/hero-images", png(800, 600), Content_Type="image/png").json["id"]
    change = owner.call("PATCH", f"/api/v1/programs/{program}", {"landingPageConfig": _WORDS | {"heroImageId": hero}})
    assert change.status_code == 200
    return f"{site}/p/{handle}/tea"


def _find_faults(page):
    page.evaluate(_AXE.axe_script)
    for scheme, width in _LOOKS:
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 800})
        for violation in page.evaluate("axe.run(document)")["violations"]:
            yield f"{scheme} {width} {violation['id']}: {[node['html'][:120] for node in violation['nodes'][:3]]}"
        if (wide := page.evaluate("document.documentElement.scrollWidth")) > width:
            yield f"{scheme} {width}: {wide} px wide"


def test_landing_page_is_accessible_and_small(page, address):
    finished = []
    page.on("requestfinished", lambda request: finished.append(request))

    page.goto(address)

    assert len(finished) <= _MAX_REQUESTS
    assert sum(sum(request.sizes().values()) for request in finished) <= _MAX_BYTES
    assert list(_find_faults(page)) == []
    page.goto(f"{address}?applied=1")
    assert list(_find_faults(page)) == []


def test_application_works_without_scripts_and_by_keyboard(browser, brand, address):
    window = browser.new_context(java_script_enabled=False, viewport={"width": 320, "height": 640})
    page = window.new_page()
    page.goto(f"{address}?recruited_by=ann")
    expect(page.get_by_role("heading", level=1)).to_have_text("Recommend the tea that you drink")
    expect(page.get_by_role("region", name="What you earn")).to_contain_text("20 % of each payment.")
    page.get_by_role("link", name="Apply").click()
    page.wait_for_url("**#apply")
    page.get_by_label("Full name").fill("Ada")
    page.get_by_label("Email").fill("nobody")
    press_enter(page)
    expect(page.get_by_role("alert")).to_contain_text("Enter an email address")
    expect(page.get_by_label("Full name")).to_have_value("Ada")
    page.get_by_label("Email").fill("ada@example.com")
    press(page.get_by_role("button", name="Send application"))

    expect(page.get_by_role("status")).to_contain_text("We received your application.")
    page.reload()
    assert brand.rows("select email, full_name from affiliate") == [("ada@example.com", "Ada")]
    window.close()
