"""Takes pictures of screens: not a test, run by `make pictures`.

README's two are kept in docs/pictures. With EVERY=DIR every screen is taken, full and empty, in both themes and at both
widths, for people to look at.
"""

import os
from pathlib import Path

import pytest

from tests.browser.screens import test_sweep
from tests.support.pages import screens

brands, sign_in = test_sweep.brands, test_sweep.sign_in
_EVERY = os.environ.get("EVERY", "")


@pytest.mark.skipif(not _EVERY, reason="EVERY=DIR says where to")
@pytest.mark.timeout(600)
@pytest.mark.parametrize("kind", screens.KINDS)
def test_pictures_of_every_screen(app, window, sign_in, brands, kind):
    for which, looks in (("full", test_sweep.LOOKS), ("empty", test_sweep.LOOKS[:1])):
        for scheme, width in looks:
            page = window(viewport={"width": width, "height": 800}, color_scheme=scheme)
            sign_in(page, kind, brands[which])
            for rule, path in test_sweep.paths(app, kind, brands[which]):
                page.goto(path)
                if page.locator("main").count() == 1:
                    name = rule.strip("/").replace("/", ".").replace("<", "").replace(">", "")
                    folder = Path(_EVERY) / f"{which}-{scheme}-{width}"
                    page.screenshot(path=folder / f"{name}.png", full_page=True)
