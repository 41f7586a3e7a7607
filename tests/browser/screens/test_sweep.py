"""Every screen there is, full and empty, in a real browser: light and dark, wide and at 320 px.

Source: the pages' interface, "Every page"; WCAG 2.2 A and AA, as far as axe can tell.
"""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Error

from pages import documents
from tests.support.operators import Operator
from tests.support.pages import full_brands, screens
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
# A member has more screens than the others together: several processes look at them.
_PARTS = [
    *[pytest.param("member", slice(first, None, 4), id=f"member-{first}") for first in range(4)],
    *[pytest.param("operator", slice(first, None, 2), id=f"operator-{first}") for first in range(2)],
    pytest.param("account", slice(None), id="account"),
]
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
    """What makes a brand with something of everything, and what makes one with nothing."""
    return {
        "full": lambda: full_brands.create_full_brand(app),
        "empty": lambda: full_brands.FullBrand(Brand.create(app), "nobody@nothing.example"),
    }


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
    for found, rule in screens.list_rules(app, "GET"):
        if found == kind and (brand.names or "<" not in rule) and not rule.endswith((".csv", "/file")):
            yield rule, screens.build_address(rule, brand.names)


@pytest.fixture
def walk(app, window, sign_in, brands):
    """What opens all that a kind of people has, of the full brand or of the empty one, with nothing in the cache.

    It yields what is opened, the page's answer, the page, and the requests that it took; `part` is of which screens.
    """

    def through(kind, which, part=slice(None)):
        page, brand, requests = window(), brands[which](), []
        page.on("request", lambda request: requests.append(request))
        page.context.new_cdp_session(page).send("Network.setCacheDisabled", {"cacheDisabled": True})
        sign_in(page, kind, brand)
        for _, path in list(paths(app, kind, brand))[part]:
            page.goto("about:blank")  # what the last page asks for late, its icon above all, is not of the next one
            requests.clear()
            answer = page.goto(path)
            yield path, answer, page, [request for request in requests if not screens.is_poll(request.url)]

    return through


def _is_whole(page):
    return page.locator("main").count() == 1  # anything else is a part of a page


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
        for stands in _overflow_faults(page, width):
            yield f"{scheme} {width} {stands}"


def _bytes(request):
    """Return what a request and its answer weigh; nothing if it was broken off, as an icon's is by the next page."""
    try:
        return sum(request.sizes().values())
    except Error:
        if request.failure is None:
            raise
        return 0


def _weight_faults(requests):
    """Yield it where a page asks for much, or often."""
    weight = sum(map(_bytes, requests))
    if len(requests) > _MOST_REQUESTS or weight > _MOST_BYTES:
        yield f"{weight} bytes in {len(requests)} requests"


def _sign_out_faults(page, path):
    """Yield it where a page has no button to sign out, or several; a preview is the page that strangers see."""
    found = page.get_by_role("button", name="Sign out", exact=True).count()
    if found != 1 and not path.endswith("/preview"):
        yield f"{found} buttons to sign out"


def _overflow_faults(page, width):
    if (wide := page.evaluate("document.documentElement.scrollWidth")) > width:
        yield f"{wide} px wide"
    if cut_off := page.evaluate(_CUT_OFF):
        yield f"cut off: {cut_off}"
    if unfolded := page.evaluate(_UNFOLDED):
        yield f"scrolls sideways: {unfolded}"


@pytest.mark.parametrize(("kind", "part"), _PARTS)
@pytest.mark.parametrize(("which", "looks"), [("full", LOOKS), ("empty", LOOKS[-1:])], ids=["full", "empty"])
def test_every_screen_is_accessible_and_small(walk, kind, part, which, looks):
    wrong, seen = {}, 0
    for path, answer, page, requests in walk(kind, which, part):
        found = list(_weight_faults(requests))
        if _is_whole(page):
            seen += 1
            found += [f"answered {answer.status}"] if answer.status != 200 else []
            found += [*_sign_out_faults(page, path), *_faults(page, looks)] if answer.status == 200 else []
        wrong |= {path: found} if found else {}

    assert wrong == {}
    assert seen >= 1


@pytest.fixture
def longer_words():
    """Every sentence of the pages two fifths longer, as in a language that takes more room."""

    def stretched(words):
        return words + "".join(" " if at % 9 == 8 else "~" for at in range(len(words) * 2 // 5))

    def counted(one, many, count):
        return stretched(one if count == 1 else many)

    documents.TEMPLATES.install_gettext_callables(stretched, counted, newstyle=True)
    yield
    documents.TEMPLATES.install_null_translations(newstyle=True)


@pytest.mark.usefixtures("longer_words")
@pytest.mark.parametrize("kind", screens.KINDS)
def test_every_screen_fits_longer_words(walk, kind):
    wrong = {}
    for path, _, page, _ in walk(kind, "full"):
        for width in (320, 1280) if _is_whole(page) else ():
            page.set_viewport_size({"width": width, "height": 800})
            wrong |= {f"{path} {width}": found} if (found := list(_overflow_faults(page, width))) else {}

    assert wrong == {}
