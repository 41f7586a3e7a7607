"""The embedded page in a frame of a brand's site, in a real browser, between three origins over HTTP.

The brand's site is http://localhost:A; the same port under another name and another port are other origins.
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
_RECORD_MESSAGES = (
    "window.messages = []; addEventListener('message', event => messages.push([event.origin, event.data]));"
)


class _Scene:
    """A brand with the affiliate Ann, who has one sale, its site with her account, another site, and a browser."""

    def __init__(self, app, site, sites, context):
        self.service, (self.site, self.other), self.context = site, sites, context
        self.payroll = Payroll.create_owing(app)
        self.brand, self.ann = self.payroll.brand, self.payroll.affiliates["ann"]
        self.origin = self.site.url.replace("127.0.0.1", "localhost")
        self.token = issue_token(self.brand, self.ann, allowedOrigins=[self.origin])
        self.address = f"{site}/embed/{self.token['id']}"
        self.requests = []
        context.on("request", lambda request: self.requests.append(request))

    def show(self, attributes="", *, at=None):
        """Put the snippet on a site's page, and return a new browser page."""
        script = f'<script async src="{self.service}/embed.js"></script>'
        place = f'<div data-finderfee-embed="{self.address}" data-token="{self.token["token"]}" {attributes}></div>'
        head = f'<title>Shop</title><link rel="icon" href="data:,"><script>{_RECORD_MESSAGES}</script>'
        html = f'<!doctype html><html lang="en">{head}<main><h1>Shop</h1>{place}</main>{script}'
        (at or self.site).show(html)
        self.page = self.context.new_page()
        return self.page

    def visit(self, attributes=""):
        """Open the brand's page and wait until it shows Ann's balances."""
        page = self.show(attributes)
        page.goto(self.origin)
        self.frame = page.frame_locator("iframe")
        self.frame.get_by_role("heading", name="Balance").wait_for()
        # When the brand's page greets it, perhaps late, the frame reports its state again.
        self.frame.locator("html.grows").wait_for()
        return page

    def find_frame(self):
        """Return the embedded frame."""
        return next(frame for frame in self.page.frames if frame.parent_frame)

    def list_messages(self, kind):
        """Return the messages of a kind that the brand's page received."""
        return [
            data
            for origin, data in self.page.evaluate("messages")
            if data.get("type") == kind and origin == self.service
        ]

    def wait_for(self, kind, number=1, *, after=None):
        """Wait until the brand's page has received `number` messages of a kind, `after` the first one of that kind."""
        self.page.wait_for_function(
            """([kind, number, after]) => {
              const kinds = messages.map(([, data]) => data.type);
              return kinds.slice(kinds.indexOf(after) + 1).filter(type => type === kind).length >= number;
            }""",
            arg=[kind, number, after],
        )

    def wait_for_height(self, more_than=0):
        """Wait until the frame is as high as its content and higher than `more_than`; return its height."""
        content_height = "Math.ceil(document.getElementById('page').getBoundingClientRect().height)"
        while True:
            expected = self.find_frame().evaluate(content_height)
            actual = self.page.evaluate("document.querySelector('iframe').offsetHeight")
            if actual == expected > more_than:
                return actual
            self.page.wait_for_timeout(20)


@pytest.fixture
def scene(app, browser, site):
    """Yield the brand with its sites and browser."""
    sites, context = (BrandSite(), BrandSite()), browser.new_context(viewport={"width": 900, "height": 700})
    yield _Scene(app, site, sites, context)
    context.close()
    for brand_site in sites:
        brand_site.close()


def test_embed_on_the_brands_page_shows_the_account(scene):
    errors = []
    scene.context.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page = scene.visit()
    scene.wait_for("ready")

    balances = scene.frame.get_by_role("row", name="USD 0.00 USD").inner_text().split("\t")
    assert balances == ["USD", "0.00 USD", "20.00 USD", "0.00 USD", "0.00 USD"]
    assert scene.frame.get_by_label("Your link ann").input_value().endswith("/ann")
    assert scene.frame.get_by_role("row", name="Sale").count() == 1
    assert (
        page.evaluate("messages.every(([origin, data]) => data.source === 'finderfee-embed' && data.v === 1)"),
        errors,
    ) == (True, [])
    assert page.locator("[data-token]").count() == 0


def test_token_is_removed_from_the_address(scene):
    scene.context.add_cookies([{"name": "finderfee", "value": "x", "url": scene.service}])
    scene.visit()
    scene.wait_for("ready")

    assert scene.find_frame().url == scene.address
    api_requests = [request for request in scene.requests if "/api/v1/embed/" in request.url]
    assert len(api_requests) == 3
    for request in api_requests:
        headers = request.all_headers()
        assert headers["authorization"] == f"Bearer {scene.token['token']}"
        assert (headers["sec-fetch-site"], "cookie" in headers, "referer" in headers) == ("same-origin", False, False)
    embed_requests = [
        request for request in scene.requests if request.url.startswith(scene.service) and "/embed/" in request.url
    ]
    assert not any("referer" in request.all_headers() for request in embed_requests)
    assert not any("ff_emb_" in request.url.partition("#")[0] for request in scene.requests)
    assert scene.find_frame().evaluate("[localStorage.length, sessionStorage.length, document.referrer]") == [0, 0, ""]


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
    before = scene.wait_for_height()
    scene.frame.get_by_text("Show data").click()
    scene.wait_for_height(more_than=before + 300)
    scene.frame.get_by_text("Show data").click()
    expect(scene.frame.owner).to_have_js_property("offsetHeight", before)
    assert scene.find_frame().evaluate("document.documentElement.scrollHeight <= innerHeight")
    heights = [message["height"] for message in scene.list_messages("height")]
    assert all(isinstance(height, int) and 0 <= height <= 20_000 for height in heights)


_READ_THEME = """() => [...['--bg', '--text', '--radius', '--font', '--accent'].map(
  name => document.documentElement.style.getPropertyValue(name)), document.documentElement.style.colorScheme]"""
_POST_THEME = """theme => document.querySelector('iframe').contentWindow.postMessage(
  {source: 'finderfee-embed', v: 1, type: 'theme', ...theme}, '*')"""


def test_theme_accepts_values_only(scene):
    page = scene.visit("""data-theme='{"mode": "dark", "radius": 3}'""")
    first = scene.find_frame().evaluate(_READ_THEME)
    theme = {"mode": "light", "accent": "#FF8800", "background": "#101010", "text": "#0f0f0f", "radius": 24}
    page.evaluate(_POST_THEME, theme | {"font": "serif", "locale": "de-DE"})
    scene.frame.get_by_text("20,00 USD").first.wait_for()
    second = scene.find_frame().evaluate(_READ_THEME)
    invalid = {"mode": "pink", "accent": "red;x", "background": "url(x)", "radius": 25, "font": "constructor"}
    for fields in (invalid | {"locale": "</script>"}, {"v": 2, "radius": 1}, {"source": "somebody", "radius": 1}):
        page.evaluate(_POST_THEME, fields)

    assert (first[2], first[5]) == ("3px", "dark")
    assert second[:3] == ["#101010", "#ffffff", "24px"]  # a text color without contrast is replaced
    assert (second[3].partition(",")[0], second[4:]) == ("Georgia", ["#ff8800", "light"])
    assert scene.find_frame().evaluate(_READ_THEME) == second


def test_invalid_theme_and_early_messages_do_not_block_the_account(scene):
    page = scene.visit("data-theme='dark'")
    create = "([url, token]) => FinderfeeEmbed('h1', {url, token}).theme({mode: 'dark'})"
    page.evaluate(create, [scene.address, scene.token["token"]])
    frame = page.frame_locator("iframe").first
    frame.get_by_role("heading", name="Balance").wait_for()

    expect(frame.locator("html")).to_have_css("color-scheme", "dark")


def test_expired_token_is_reported_and_renewed(scene, flask):
    scene.visit('data-refresh="/token"')
    flask("embed", "expire", scene.token["id"])
    fresh = issue_token(scene.brand, scene.ann, allowedOrigins=[scene.origin])
    scene.site.pages["/token"] = SitePage(json.dumps({"token": fresh["token"]}), headers=_JSON)

    scene.frame.get_by_label("Period", exact=True).select_option("7")
    scene.wait_for("token-expired")
    scene.wait_for("ready", after="token-expired")

    assert len(scene.list_messages("token-expired")) == 1
    expect(scene.frame.get_by_role("heading", name="Balance")).to_be_visible()
    assert set(scene.list_messages("token-expired")[0]) == {"source", "v", "type"}


def test_renewal_is_requested_at_most_twice(scene):
    scene.site.pages["/token"] = SitePage(json.dumps({"token": scene.token["token"]}), headers=_JSON)
    scene.brand.call("POST", TOKENS, {"affiliateId": str(scene.ann), "allowedOrigins": [scene.origin], "rotate": True})
    page = scene.show('data-refresh="/token"')
    page.goto(scene.origin)
    scene.wait_for("token-expired", 3)
    while (
        scene.site.requested_paths.count("/token") < 2
    ):  # the page receives the first message twice if it greets the frame late
        page.wait_for_timeout(20)
    page.wait_for_timeout(200)

    assert scene.site.requested_paths.count("/token") == 2
    expect(page.frame_locator("iframe").get_by_text("Your session has expired")).to_be_visible()


def test_affiliate_copies_and_adds_a_link_and_signs_in(scene):
    scene.context.grant_permissions(["clipboard-read", "clipboard-write"])
    scene.visit()
    scene.frame.get_by_role("button", name="Copy Your link ann").click()
    scene.wait_for("copied")
    alias = f"ann-{scene.brand.id.hex[:12]}"
    scene.frame.get_by_label("New link").fill("ann")
    scene.frame.get_by_role("button", name="Add link").click()
    scene.frame.get_by_role("alert").wait_for()
    scene.frame.get_by_label("New link").fill(alias)
    scene.page.keyboard.press("Enter")
    scene.frame.get_by_label(f"Your link {alias}").wait_for()
    with scene.context.expect_page() as sign_in_page:
        scene.frame.get_by_role("link", name="sign in").last.click()

    assert sign_in_page.value.locator("h1").first.inner_text() != ""
    assert scene.service in sign_in_page.value.url
    assert sign_in_page.value.evaluate("window.opener") is None
    with db.unit_of_work(scene.brand.id):
        assert db.db.run("select count(*) from tracking_link where custom_alias = %s", (alias,)) == [(1,)]


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_embed_is_accessible(scene, mode):
    scene.page = scene.visit(f'data-theme=\'{{"mode": "{mode}"}}\'')
    for width in (900, 320):
        scene.page.set_viewport_size({"width": width, "height": 700})
        scene.wait_for_height()
        violations = Axe().run(scene.page, options=_LEVELS).response["violations"]

        assert [(rule["id"], [node["html"] for node in rule["nodes"]]) for rule in violations] == []
        assert scene.find_frame().evaluate("document.documentElement.scrollWidth <= innerWidth"), width
