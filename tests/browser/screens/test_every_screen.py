"""Every screen, full and empty, in a real browser: light and dark, wide and at 320 px.

Source: the pages' interface, "Every page"; WCAG 2.2 A and AA, as far as axe can check them.
"""

import pytest
from playwright.sync_api import Error

from pages import documents
from tests.support.operators import Operator
from tests.support.pages import full_brands, screens
from tests.support.pages.page_faults import list_faults, list_overflow_faults
from tests.support.rows.brands import Brand

# Each test opens many screens; a timeout in the middle would break the shared browser for the next tests.
pytestmark = pytest.mark.timeout(900)
LOOKS = [("light", 1280), ("dark", 1280), ("light", 320), ("dark", 320)]
# A member has more screens than the others together, so several processes share them.
_PARTS = [
    *[pytest.param("member", slice(first, None, 4), id=f"member-{first}") for first in range(4)],
    *[pytest.param("operator", slice(first, None, 2), id=f"operator-{first}") for first in range(2)],
    pytest.param("account", slice(None), id="account"),
]
_MAX_BYTES, _MAX_REQUESTS = 60_000, 5


@pytest.fixture
def brands(app):
    """Return functions that create a brand with a row of every kind and a brand without rows."""
    return {
        "full": lambda: full_brands.create_full_brand(app),
        "empty": lambda: full_brands.FullBrand(Brand.create(app), "nobody@nothing.example"),
    }


@pytest.fixture
def sign_in(app, site):
    """Return a function that signs a page in as a kind of user of a brand."""

    def sign_in_as(page, kind, brand):
        options = {"member": ("--org", brand.brand.id), "account": ("--email", brand.email), "operator": ()}[kind]
        link = Operator(app).json("sign-in", screens.KINDS[kind][0], *options)["url"]
        page.goto(f"{site}/sign-in{link.partition('/sign-in')[2]}")

    return sign_in_as


def list_paths(app, kind, brand):
    """Yield the rule and the address of every screen of a kind of user, except downloads."""
    for screen_kind, rule in screens.list_rules(app, "GET"):
        if screen_kind == kind and (brand.names or "<" not in rule) and not rule.endswith((".csv", "/file")):
            yield rule, screens.build_address(rule, brand.names)


@pytest.fixture
def open_screens(app, window, sign_in, brands):
    """Return a function that opens every screen of a kind of user, of the full or the empty brand, without a cache.

    It yields the path, the response, the page and its requests; `part` selects some of the screens.
    """

    def open_screens(kind, which, part=slice(None)):
        page, brand, requests = window(), brands[which](), []
        page.on("request", lambda request: requests.append(request))
        page.context.new_cdp_session(page).send("Network.setCacheDisabled", {"cacheDisabled": True})
        sign_in(page, kind, brand)
        for _, path in list(list_paths(app, kind, brand))[part]:
            page.set_viewport_size({"width": 1280, "height": 800})
            page.goto("about:blank")  # late requests of the last page, such as its icon, must not count for the next
            requests.clear()
            response = page.goto(path)
            yield path, response, page, [request for request in requests if not screens.is_poll(request.url)]

    return open_screens


def _is_full_page(page):
    return page.locator("main").count() == 1  # otherwise it is a fragment


def _count_bytes(request):
    """Return the size of a request and its response; 0 if the next page aborted it, as it does an icon's."""
    try:
        return sum(request.sizes().values())
    except Error:
        if request.failure is None:
            raise
        return 0


def _weight_faults(requests):
    """Yield a fault if a page loads too many bytes or sends too many requests."""
    weight = sum(map(_count_bytes, requests))
    if len(requests) > _MAX_REQUESTS or weight > _MAX_BYTES:
        yield f"{weight} bytes in {len(requests)} requests"


def _sign_out_faults(page, path):
    """Yield a fault if a page has not exactly one button to sign out; a preview is a public page and has none."""
    count = page.get_by_role("button", name="Sign out", exact=True).count()
    if count != 1 and not path.endswith("/preview"):
        yield f"{count} buttons to sign out"


@pytest.mark.parametrize(("kind", "part"), _PARTS)
@pytest.mark.parametrize(("which", "looks"), [("full", LOOKS), ("empty", LOOKS[-1:])], ids=["full", "empty"])
def test_every_screen_is_accessible_and_small(open_screens, kind, part, which, looks):
    faults_by_path, page_count = {}, 0
    for path, response, page, requests in open_screens(kind, which, part):
        faults = list(_weight_faults(requests))
        if _is_full_page(page):
            page_count += 1
            faults += [f"status {response.status}"] if response.status != 200 else []
            faults += [*_sign_out_faults(page, path), *list_faults(page, looks)] if response.status == 200 else []
        faults_by_path |= {path: faults} if faults else {}

    assert faults_by_path == {}
    assert page_count >= 1


@pytest.fixture
def longer_words():
    """Make every sentence of the pages 40 % longer, as in a language with longer words."""

    def lengthen(words):
        return words + "".join(" " if at % 9 == 8 else "~" for at in range(len(words) * 2 // 5))

    def lengthen_by_count(singular, plural, count):
        return lengthen(singular if count == 1 else plural)

    documents.TEMPLATES.install_gettext_callables(lengthen, lengthen_by_count, newstyle=True)
    yield
    documents.TEMPLATES.install_null_translations(newstyle=True)


@pytest.mark.usefixtures("longer_words")
@pytest.mark.parametrize("kind", screens.KINDS)
def test_every_screen_fits_longer_words(open_screens, kind):
    faults_by_path = {}
    for path, _, page, _ in open_screens(kind, "full"):
        for width in (320, 1280) if _is_full_page(page) else ():
            page.set_viewport_size({"width": width, "height": 800})
            if faults := list(list_overflow_faults(page, width)):
                faults_by_path[f"{path} {width}"] = faults

    assert faults_by_path == {}
