"""People at the screens, in a real browser that may speak to nobody but the site."""

import pytest

from tests.support.operators import Operator

_VIOLATIONS = """
addEventListener('securitypolicyviolation', event => console.error('CSP: ' + event.violatedDirective))
"""


@pytest.fixture
def link(app, brand, site):
    """What makes a link of `owner`, `affiliate` or `operator` to the site under test, where something waits."""
    brand.program()
    brand.affiliate("paused", status="Paused")
    brand.affiliate("new", status="Pending", approved_at=None)
    for cents in (1_234_567_89, 20):
        brand.sale(affiliateSlug="paused", amountCents=cents)

    def make(who):
        more = {"owner": ("--org", brand.id), "affiliate": ("--email", "rita@example.com"), "operator": ()}[who]
        return site + "/sign-in" + Operator(app).json("sign-in", who, *more)["url"].partition("/sign-in")[2]

    return make


@pytest.fixture
def window(browser, site):
    """What opens a page that may speak to nobody but the site; what it says in its console fails the test."""
    contexts, wrong = [], []

    def open_window(**options):
        context = browser.new_context(base_url=site, **options)
        contexts.append(context)

        def only_ours(route):
            if route.request.url.startswith(f"{site}/"):
                return route.continue_()
            wrong.append(f"asked for {route.request.url}")
            return route.abort()

        context.route("**/*", only_ours)
        if options.get("java_script_enabled", True):
            context.add_init_script(_VIOLATIONS)
        page = context.new_page()
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda said: wrong.append(said.text) if not _is_expected(said.text) else None)
        return page

    yield open_window
    for context in contexts:
        context.close()
    assert wrong == []


def _is_expected(said):
    """Say whether the browser only names the status of a page that is meant to fail."""
    return any(f"the server responded with a status of {status}" in said for status in (409, 410, 422))
