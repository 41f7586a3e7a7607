"""Our page in the frame of a brand's site, in a real browser, between three origins over HTTP.

The brand's site is http://localhost:A; the same port by another name and another port are other origins.
"""

import json

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from models import db
from tests.support.api.embed_tokens import TOKENS, issue_token
from tests.support.outside.brand_site import BrandSite, SitePage
from tests.support.rows.payroll import Payroll

_JSON = {"Content-Type": "application/json"}
_LEVELS = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
_HEARD = "window.heard = []; addEventListener('message', event => heard.push([event.origin, event.data]));"


class _Scene:
    """A brand with Ann, who sold once, its site that shows her account, another site, and a browser."""

    def __init__(self, app, site, sites, context):
        self.service, (self.site, self.other), self.context = site, sites, context
        self.payroll = Payroll.create_owing(app)
        self.brand, self.ann = self.payroll.brand, self.payroll.affiliates["ann"]
        self.origin = self.site.url.replace("127.0.0.1", "localhost")
        self.token = issue_token(self.brand, self.ann, allowedOrigins=[self.origin])
        self.address = f"{site}/embed/{self.token['id']}"
        self.requests = []
        context.on("request", lambda one: self.requests.append(one))

    def show(self, more="", *, at=None):
        """Put the snippet on a site's page, and return what it is opened by."""
        script = f'<script async src="{self.service}/embed.js"></script>'
        place = f'<div data-finderfee-embed="{self.address}" data-token="{self.token["token"]}" {more}></div>'
        head = f'<title>Shop</title><link rel="icon" href="data:,"><script>{_HEARD}</script>'
        html = f'<!doctype html><html lang="en">{head}<main><h1>Shop</h1>{place}</main>{script}'
        (at or self.site).show(html)
        self.page = self.context.new_page()
        return self.page

    def visit(self, more=""):
        """Open the brand's page and wait until Ann sees what she has."""
        page = self.show(more)
        page.goto(self.origin)
        self.frame = page.frame_locator("iframe")
        self.frame.get_by_role("heading", name="What you have").wait_for()
        # Greeted by the brand's page, which may be later, the frame tells once more where it stands.
        self.frame.locator("html.grows").wait_for()
        return page

    def inner(self):
        """Return the frame's own document."""
        return next(frame for frame in self.page.frames if frame.parent_frame)

    def heard(self, kind):
        """Return the messages of a kind that the brand's page got."""
        return [
            data for origin, data in self.page.evaluate("heard") if data.get("type") == kind and origin == self.service
        ]

    def wait_for(self, kind, number=1, *, after=None):
        """Wait until the brand's page got so many messages of a kind, `after` the first of another one."""
        self.page.wait_for_function(
            """([kind, number, after]) => {
              const kinds = heard.map(([, data]) => data.type);
              return kinds.slice(kinds.indexOf(after) + 1).filter(one => one === kind).length >= number;
            }""",
            arg=[kind, number, after],
        )

    def height(self, than=0):
        """Return how high the frame is, when it is as high as its content and higher than that."""
        while True:
            wanted = self.inner().evaluate("Math.ceil(document.getElementById('page').getBoundingClientRect().height)")
            found = self.page.evaluate("document.querySelector('iframe').offsetHeight")
            if found == wanted > than:
                return found
            self.page.wait_for_timeout(20)


@pytest.fixture
def scene(app, browser, site):
    """The scene; whatever a page of ours says goes wrong in its console fails the test."""
    sites, context = (BrandSite(), BrandSite()), browser.new_context(viewport={"width": 900, "height": 700})
    yield _Scene(app, site, sites, context)
    context.close()
    for one in sites:
        one.close()


def test_embed_on_the_brands_page_shows_the_account(scene):
    wrong = []
    scene.context.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
    page = scene.visit()
    scene.wait_for("ready")

    balances = scene.frame.get_by_role("row", name="USD 0.00 USD").inner_text().split("\t")
    assert balances == ["USD", "0.00 USD", "20.00 USD", "0.00 USD", "0.00 USD"]
    assert scene.frame.get_by_label("Your link ann").input_value().endswith("/ann")
    assert scene.frame.get_by_role("row", name="Sale").count() == 1
    assert (
        page.evaluate("heard.every(([origin, data]) => data.source === 'finderfee-embed' && data.v === 1)"),
        wrong,
    ) == (True, [])
    assert page.locator("[data-token]").count() == 0


def test_token_is_removed_from_the_address(scene):
    scene.context.add_cookies([{"name": "finderfee", "value": "x", "url": scene.service}])
    scene.visit()
    scene.wait_for("ready")

    assert scene.inner().url == scene.address
    asked = [request for request in scene.requests if "/api/v1/embed/" in request.url]
    assert len(asked) == 3
    for request in asked:
        headers = request.all_headers()
        assert headers["authorization"] == f"Bearer {scene.token['token']}"
        assert (headers["sec-fetch-site"], "cookie" in headers, "referer" in headers) == ("same-origin", False, False)
    to_us = [request for request in scene.requests if request.url.startswith(scene.service)]
    assert not any("referer" in one.all_headers() for one in to_us if "/embed/" in one.url)
    assert not any("ff_emb_" in one.url.partition("#")[0] for one in scene.requests)
    assert scene.inner().evaluate("[localStorage.length, sessionStorage.length, document.referrer]") == [0, 0, ""]


@pytest.mark.parametrize("where", ["another port", "another host", "within a stranger's page"])
def test_embed_on_another_site_shows_nothing(scene, where):
    page = scene.show(at=scene.other if where == "another port" else None)
    if where == "another port":
        page.goto(scene.other.url.replace("127.0.0.1", "localhost"))
    elif where == "another host":
        page.goto(scene.site.url)
    else:
        scene.other.show(f'<!doctype html><title>x</title><iframe src="{scene.origin}"></iframe>')
        page.goto(scene.other.url)
    while not any(request.url.startswith(scene.address) for request in scene.requests):
        page.wait_for_timeout(20)
    page.wait_for_timeout(500)

    assert not any("/api/v1/embed/" in request.url for request in scene.requests)
    assert [frame.url for frame in page.frames if frame.url.startswith(scene.address)] == []


def test_frame_height_follows_its_content(scene):
    scene.visit()
    before = scene.height()
    scene.frame.get_by_text("The figures").click()
    scene.height(than=before + 300)
    scene.frame.get_by_text("The figures").click()
    expect(scene.frame.owner).to_have_js_property("offsetHeight", before)
    assert scene.inner().evaluate("document.documentElement.scrollHeight <= innerHeight")
    assert all(isinstance(one["height"], int) and 0 <= one["height"] <= 20_000 for one in scene.heard("height"))


_LOOK = """() => [...['--bg', '--text', '--radius', '--font', '--accent'].map(
  name => document.documentElement.style.getPropertyValue(name)), document.documentElement.style.colorScheme]"""
_SAY = """theme => document.querySelector('iframe').contentWindow.postMessage(
  {source: 'finderfee-embed', v: 1, type: 'theme', ...theme}, '*')"""


def test_theme_accepts_values_only(scene):
    page = scene.visit("""data-theme='{"mode": "dark", "radius": 3}'""")
    first = scene.inner().evaluate(_LOOK)
    wanted = {"mode": "light", "accent": "#FF8800", "background": "#101010", "text": "#0f0f0f", "radius": 24}
    page.evaluate(_SAY, wanted | {"font": "serif", "locale": "de-DE"})
    scene.frame.get_by_text("20,00 USD").first.wait_for()
    shown = scene.inner().evaluate(_LOOK)
    strange = {"mode": "pink", "accent": "red;x", "background": "url(x)", "radius": 25, "font": "constructor"}
    for more in (strange | {"locale": "</script>"}, {"v": 2, "radius": 1}, {"source": "somebody", "radius": 1}):
        page.evaluate(_SAY, more)

    assert (first[2], first[5]) == ("3px", "dark")
    assert shown[:3] == ["#101010", "#ffffff", "24px"]  # a text that could not be read on its ground is not taken
    assert (shown[3].partition(",")[0], shown[4:]) == ("Georgia", ["#ff8800", "light"])
    assert scene.inner().evaluate(_LOOK) == shown


def test_invalid_theme_and_early_messages_do_not_block_the_account(scene):
    page = scene.visit("data-theme='dark'")
    made = "([url, token]) => FinderfeeEmbed('h1', {url, token}).theme({mode: 'dark'})"
    page.evaluate(made, [scene.address, scene.token["token"]])
    early = page.frame_locator("iframe").first
    early.get_by_role("heading", name="What you have").wait_for()

    expect(early.locator("html")).to_have_css("color-scheme", "dark")


def test_expired_token_is_reported_and_renewed(scene, flask):
    scene.visit('data-refresh="/token"')
    flask("embed", "expire", scene.token["id"])
    fresh = issue_token(scene.brand, scene.ann, allowedOrigins=[scene.origin])
    scene.site.pages["/token"] = SitePage(json.dumps({"token": fresh["token"]}), headers=_JSON)

    scene.frame.get_by_label("Days", exact=True).select_option("7")
    scene.wait_for("token-expired")
    scene.wait_for("ready", after="token-expired")

    assert len(scene.heard("token-expired")) == 1
    expect(scene.frame.get_by_role("heading", name="What you have")).to_be_visible()
    assert set(scene.heard("token-expired")[0]) == {"source", "v", "type"}


def test_renewal_is_requested_at_most_twice(scene):
    scene.site.pages["/token"] = SitePage(json.dumps({"token": scene.token["token"]}), headers=_JSON)
    scene.brand.call("POST", TOKENS, {"affiliateId": str(scene.ann), "allowedOrigins": [scene.origin], "rotate": True})
    page = scene.show('data-refresh="/token"')
    page.goto(scene.origin)
    scene.wait_for("token-expired", 3)
    while (
        scene.site.requested_paths.count("/token") < 2
    ):  # it was told the first time twice if it greeted the frame late
        page.wait_for_timeout(20)
    page.wait_for_timeout(200)

    assert scene.site.requested_paths.count("/token") == 2
    expect(page.frame_locator("iframe").get_by_text("Your session here is over")).to_be_visible()


def test_affiliate_copies_and_adds_a_link_and_signs_in(scene):
    scene.context.grant_permissions(["clipboard-read", "clipboard-write"])
    scene.visit()
    scene.frame.get_by_role("button", name="Copy Your link ann").click()
    scene.wait_for("copied")
    alias = f"ann-{scene.brand.id.hex[:12]}"
    scene.frame.get_by_label("One more link").fill("ann")
    scene.frame.get_by_role("button", name="Add link").click()
    scene.frame.get_by_role("alert").wait_for()
    scene.frame.get_by_label("One more link").fill(alias)
    scene.page.keyboard.press("Enter")
    scene.frame.get_by_label(f"Your link {alias}").wait_for()
    with scene.context.expect_page() as opened:
        scene.frame.get_by_role("link", name="sign in").last.click()

    assert opened.value.locator("h1").first.inner_text() != ""
    assert scene.service in opened.value.url
    assert opened.value.evaluate("window.opener") is None
    with db.unit_of_work(scene.brand.id):
        assert db.db.run("select count(*) from tracking_link where custom_alias = %s", (alias,)) == [(1,)]


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_embed_is_accessible(scene, mode):
    scene.page = scene.visit(f'data-theme=\'{{"mode": "{mode}"}}\'')
    for width in (900, 320):
        scene.page.set_viewport_size({"width": width, "height": 700})
        scene.height()
        found = Axe().run(scene.page, options=_LEVELS).response["violations"]

        assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in found] == []
        assert scene.inner().evaluate("document.documentElement.scrollWidth <= innerWidth"), width
