"""Take screenshots: not a test, run by `make pictures`.

README's two are stored in docs/pictures. With EVERY=DIR every screen is taken for review, full and empty, in both
themes and at both widths.
"""

import os
from pathlib import Path

import pytest

from tests.browser.screens import test_every_screen
from tests.support.pages import screens
from tests.support.pages.full_brands import FullBrand
from tests.support.rows.payroll import Payroll

brands, sign_in = test_every_screen.brands, test_every_screen.sign_in
_PICTURES = Path(__file__).parents[3] / "docs" / "pictures"
_SALES = {"ben": ("Ben Osei", 231_055), "rita": ("Rita Okafor", 187_400), "chiara": ("Chiara Moretti", 64_020)}
_EVERY_SCREEN_DIR = os.environ.get("EVERY", "")


@pytest.mark.skipif(not _EVERY_SCREEN_DIR, reason="EVERY=DIR is not set")
@pytest.mark.timeout(600)
@pytest.mark.parametrize("kind", screens.KINDS)
def test_screenshots_of_every_screen(app, window, sign_in, brands, kind):
    for which, looks in (("full", test_every_screen.LOOKS), ("empty", test_every_screen.LOOKS[:1])):
        brand = brands[which]()
        for scheme, width in looks:
            page = window(viewport={"width": width, "height": 800}, color_scheme=scheme)
            sign_in(page, kind, brand)
            for rule, path in test_every_screen.list_paths(app, kind, brand):
                page.goto(path)
                if page.locator("main").count() == 1:
                    name = rule.strip("/").replace("/", ".").replace("<", "").replace(">", "")
                    folder = Path(_EVERY_SCREEN_DIR) / f"{which}-{scheme}-{width}"
                    page.screenshot(path=folder / f"{name}.png", full_page=True)


@pytest.fixture
def acme(app):
    """Return a brand that is about to pay three affiliates with sales in two currencies; one has no payout account."""
    payroll = Payroll.create(app)
    payroll.rate("EUR", "0.9")
    for slug, (name, cents) in _SALES.items():
        payroll.affiliate(slug)
        payroll.execute("update affiliate set full_name = %s where id = %s", name, payroll.affiliates[slug])
        payroll.sell(slug, cents)
        conversion = payroll.sell(slug, cents // 3, "EUR", customerEmail="zoe@example.com")
    payroll.affiliate("ada", method=None)
    payroll.sell("ada", 12_000)
    return FullBrand(payroll.brand, "ben@example.com", {"conversion_id": conversion})


@pytest.mark.parametrize(
    "picture",
    [("payout-run", "/dashboard/payouts/new/confirm", "light"), ("conversion", "/dashboard/conversions/{}", "dark")],
)
def test_screenshots_for_the_readme(window, sign_in, acme, picture):
    name, path, scheme = picture
    page = window(viewport={"width": 1120, "height": 640}, color_scheme=scheme)
    sign_in(page, "member", acme)
    page.goto(path.format(acme.names["conversion_id"]))
    page.screenshot(path=_PICTURES / f"{name}.png")
