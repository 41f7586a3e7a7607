"""Every screen there is, full and empty, in a real browser: light and dark, wide and at 320 px.

Source: the pages' interface, "Every page"; WCAG 2.2 A and AA, as far as axe can tell.
"""

import pytest
from axe_playwright_python.sync_playwright import Axe

from pages import documents
from tests.support.operators import Operator
from tests.support.pages import full, screens
from tests.support.rows.brands import Brand

# Each goes through all screens; cut off in the middle it would take the browser of the next tests along.
pytestmark = pytest.mark.timeout(900)
_AXE = Axe()
_LEVELS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
_OPTIONS = {"runOnly": _LEVELS, "resultTypes": ["violations"]}
# All that another color scheme changes.
_COLORS = {
    "runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]},
    "resultTypes": ["violations"],
}
LOOKS = [("light", 1280), ("dark", 1280), ("light", 320), ("dark", 320)]
_CUT_OFF = """
() => [...document.querySelectorAll('h1, h2, p, dd, dt, a, button, label, .chip')]
  .filter(one => one.offsetParent && getComputedStyle(one).display !== 'inline')
  .filter(one => !one.closest('.unseen, .skip, .scroll'))
  .filter(one => one.scrollWidth > one.clientWidth + 1)
  .map(one => one.outerHTML.slice(0, 80))
"""
# Where there is no room for its columns a table folds, so that nothing is read sideways.
_UNFOLDED = """
() => innerWidth > 640 ? [] : [...document.querySelectorAll('.scroll')]
  .filter(one => one.scrollWidth > one.clientWidth + 1).map(one => one.getAttribute('aria-label'))
"""
_MOST_BYTES, _MOST_REQUESTS = 100_000, 6


@pytest.fixture
def brands(app):
    """A brand with something of everything, and one with nothing."""
    return {"full": full.make(app), "empty": full.FullBrand(Brand.create(app), "nobody@nothing.example")}


@pytest.fixture
def sign_in(app, site):
    """What signs a page in as a person of a kind, of a brand."""

    def go(page, kind, brand):
        more = {"member": ("--org", brand.brand.id), "account": ("--email", brand.email), "operator": ()}[kind]
        link = Operator(app).json("sign-in", screens.KINDS[kind][0], *more)["url"]
        page.goto(f"{site}/sign-in{link.partition('/sign-in')[2]}")

    return go


def paths(app, kind, brand):
    """Yield the rule and the address of every screen of a kind of people; what is downloaded is none."""
    for found, rule in screens.rules(app, "GET"):
        if found == kind and (brand.names or "<" not in rule) and not rule.endswith((".csv", "/file")):
            yield rule, screens.address(rule, brand.names)


@pytest.fixture
def walk(app, window, sign_in, brands):
    """What opens every whole page that a kind of people has, of the full brand or of the empty one."""

    def through(kind, which):
        page = window()
        sign_in(page, kind, brands[which])
        for _, path in paths(app, kind, brands[which]):
            answer = page.goto(path)
            if page.locator("main").count() == 1:  # anything else is a part of a page
                yield path, answer, page

    return through


def _faults(page, looks):
    """Yield what is wrong with a page, as it looks in each of these ways."""
    page.evaluate(_AXE.axe_script)
    whole = set()
    for scheme, width in looks:
        options = _COLORS if width in whole else _OPTIONS
        whole.add(width)
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 800})
        for found in page.evaluate("options => axe.run(document, options)", options)["violations"]:
            yield f"{scheme} {width} {found['id']}: {[node['html'][:120] for node in found['nodes'][:3]]}"
        for stands in _sticks_out(page, width):
            yield f"{scheme} {width} {stands}"


def _keeps_in(page, path):
    """Yield it where a page has no button to sign out, or several; a preview is the page that strangers see."""
    found = page.get_by_role("button", name="Sign out", exact=True).count()
    if found != 1 and not path.endswith("/preview"):
        yield f"{found} buttons to sign out"


def _sticks_out(page, width):
    if (wide := page.evaluate("document.documentElement.scrollWidth")) > width:
        yield f"{wide} px wide"
    if cut_off := page.evaluate(_CUT_OFF):
        yield f"cut off: {cut_off}"
    if unfolded := page.evaluate(_UNFOLDED):
        yield f"scrolls sideways: {unfolded}"


@pytest.mark.parametrize("kind", screens.KINDS)
@pytest.mark.parametrize(("which", "looks"), [("full", LOOKS), ("empty", LOOKS[-1:])])
def test_every_screen_is_for_everybody(walk, kind, which, looks):
    wrong, seen = {}, 0
    for path, answer, page in walk(kind, which):
        found = [f"answered {answer.status}"] if answer.status != 200 else []
        found += [] if found else [*_keeps_in(page, path), *_faults(page, looks)]
        wrong |= {path: found} if found else {}
        seen += 1

    assert wrong == {}
    assert seen >= 1


@pytest.mark.parametrize("kind", screens.KINDS)
def test_every_screen_is_light_and_asks_little(app, window, sign_in, brands, kind):
    heavy = {}
    signed_in = window()
    sign_in(signed_in, kind, brands["full"])
    for _, path in paths(app, kind, brands["full"]):
        cold = window(storage_state=signed_in.context.storage_state())
        finished = []
        cold.on("requestfinished", lambda request, finished=finished: finished.append(request))
        cold.goto(path)
        sizes = [sum(request.sizes().values()) for request in finished]
        cold.context.close()
        if len(sizes) > _MOST_REQUESTS or sum(sizes) > _MOST_BYTES:
            heavy[path] = len(sizes), sum(sizes)

    assert heavy == {}


@pytest.fixture
def longer():
    """Every sentence of the pages two fifths longer, as in a language that takes more room."""

    def stretched(words):
        return words + "".join(" " if at % 9 == 8 else "~" for at in range(len(words) * 2 // 5))

    def counted(one, many, count):
        return stretched(one if count == 1 else many)

    documents.TEMPLATES.install_gettext_callables(stretched, counted, newstyle=True)
    yield
    documents.TEMPLATES.install_null_translations(newstyle=True)


@pytest.mark.usefixtures("longer")
@pytest.mark.parametrize("kind", screens.KINDS)
def test_every_screen_has_room_for_longer_words(walk, kind):
    wrong = {}
    for path, _, page in walk(kind, "full"):
        for width in (320, 1280):
            page.set_viewport_size({"width": width, "height": 800})
            wrong |= {f"{path} {width}": found} if (found := list(_sticks_out(page, width))) else {}

    assert wrong == {}
