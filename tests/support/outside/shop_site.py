"""A brand's web site in the browser, on another origin than the service."""

import json
import time

SHOP = "https://www.shop.co.uk"
STUB = "<script>window.Finderfee=window.Finderfee||function(){(Finderfee.q=Finderfee.q||[]).push(arguments)}</script>"
# Within this time, requests that a page has begun arrive.
SOON_MS = 500


class ShopSite:
    """A brand's site: every URL shows the same page, with the script's tag. Records what the script sends."""

    def __init__(self, page, service, program_id):
        self.page, self.service, self.program_id = page, service, program_id
        self.clicks, self.leads, self.seen = [], [], []
        self.headers = {}
        self.show()
        self.move_to(SHOP)
        page.on("request", self._keep)

    def move_to(self, origin):
        """Put the site at another origin."""
        self.origin = origin
        self.page.route(f"{origin}/**", self._answer)

    def show(self, attributes="", body="", before=""):
        """Change the page: attributes of the tag, what the page holds, what comes before the tag."""
        tag = f'<script async src="{self.service}/api/v1/r/loader.js" data-program-id="{self.program_id}" {attributes}>'
        self.html = f'<!doctype html><link rel="icon" href="data:,">{before}{tag}</script><body>{body}'

    def visit(self, address="/"):
        """Open a path of the site, wait until the script knows who referred the visitor, and return the slug."""
        self.page.goto(f"{self.origin}{address}")
        return self.wait_for_slug()

    def wait_for_slug(self):
        """Wait until the script knows who referred the visitor, and return the slug."""
        self.page.wait_for_function("window.Finderfee && Finderfee.isLoaded")
        return self.page.evaluate("new Promise(done => Finderfee.ready(() => done(Finderfee.slug())))")

    def call_script(self, *arguments):
        """Call the script's function as a page does."""
        return self.page.evaluate("args => Finderfee(...args)", list(arguments))

    def reset_visitor(self):
        """Delete the site's cookies and storage, and leave the page, so that the next one is loaded again."""
        self.page.evaluate("localStorage.clear(); sessionStorage.clear()")
        self.page.context.clear_cookies()
        self.page.goto("about:blank")

    def wait_for_leads(self, number):
        """Wait for this many leads, and briefly for one too many; return the emails."""
        self.wait_until(lambda: len(self.leads) >= number)
        self.page.wait_for_timeout(60)
        return [lead["email"] for lead in self.leads]

    def wait_until(self, condition):
        """Wait until the condition is true, for at most half a minute; the test itself asserts it."""
        deadline = time.monotonic() + 30
        while not condition() and time.monotonic() < deadline:
            self.page.wait_for_timeout(20)

    def cookies(self):
        """Return the cookies of the site by name."""
        return {cookie["name"]: cookie for cookie in self.page.context.cookies(self.origin)}

    def count_stored(self):
        """Return how many entries the site has in local and session storage."""
        return self.page.evaluate("localStorage.length + sessionStorage.length")

    def _answer(self, route):
        route.fulfill(body=self.html, content_type="text/html; charset=utf-8", headers=self.headers)

    def _keep(self, request):
        if request.url.endswith("/track/click"):
            self.clicks.append(json.loads(request.post_data))
        if "/c.gif?" in request.url:
            self.seen.append(request.url.partition("/c.gif")[2])
        if request.url.endswith("/lead/signup"):
            self.leads.append(json.loads(request.post_data))
