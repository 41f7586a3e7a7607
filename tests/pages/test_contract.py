"""Addresses, headings and answers of the pages' interface, sentence by sentence."""

import re

import pytest

from tests.support import databases
from tests.support.operators import Operator
from tests.support.outside.visitor import Visitor
from tests.support.pages import full_brands, screens
from tests.support.rows.brands import Brand

# Path below the area's home and the heading of the page; None for pages of one row.
_DASHBOARD = {
    "": "Overview",
    "/programs": "Programs",
    "/programs/new": "New program",
    "/programs/<program_id>": None,
    "/programs/<program_id>/install": None,
    "/programs/<program_id>/domain": None,
    "/affiliates": "Affiliates",
    "/affiliates/applications": "Applications",
    "/affiliates/<affiliate_id>": None,
    "/invites": "Invites",
    "/conversions": "Conversions",
    "/conversions/new": "New conversion",
    "/conversions/<conversion_id>": None,
    "/review": "Review",
    "/payouts": "Payouts",
    "/payouts/new": "New run",
    "/payouts/new/confirm": "Confirm the payout run",
    "/payouts/runs/<run_id>": None,
    "/payouts/<payout_id>": None,
    "/imports": "Imports",
    "/imports/new": "New import",
    "/imports/<import_id>": None,
    "/imports/<import_id>/undo": "Undo import",
    "/switch": "Switch",
    "/switch/new": None,
    "/switch/<switch_id>": None,
    "/switch/<switch_id>/rows": "Rows",
    "/switch/<switch_id>/undo": "Undo the switch",
    "/coupons": "Coupons",
    "/webhooks": "Webhooks",
    "/webhooks/<endpoint_id>": None,
    "/webhooks/<endpoint_id>/deliveries/<delivery_id>": None,
    "/api-keys": "API keys",
    "/settings": "Settings",
    "/settings/profile": "Profile",
    "/settings/brand": "Brand",
    "/settings/tracking": "Tracking",
    "/settings/payouts": "Payouts",
    "/settings/developers": "Developers",
    "/settings/tracking-domain": "Tracking domain",
    "/audit-log": "Audit log",
}
_PORTAL = {
    "": "Home",
    "/links": "Links",
    "/earnings": "Earnings",
    "/payouts": "Payouts",
    "/payouts/<payout_id>": None,
    "/payout-account": "Payout account",
    "/recruits": "Recruits",
    "/coupons": "Coupons",
    "/assets": "Assets",
    "/programs": "Programs",
}
_CONSOLE = {
    "": "Now",
    "/dead": "Dead letters",
    "/schedule": "Schedule",
    "/ledger": "Ledger",
    "/payouts": "Payouts",
    "/rates": "Rates",
    "/mail": "Mail",
    "/tenants": "Tenants",
    "/style": "Style",
}
_AREAS = {"member": _DASHBOARD, "account": _PORTAL, "operator": _CONSOLE}
_NAMES = {"member": "Dashboard", "account": "Portal", "operator": "Console"}
_POLICY = {"'none'", "'self'"}
_MACHINE_WORDS = re.compile(r"\b(None|null|undefined|NaN)\b")


@pytest.fixture(scope="module", autouse=True)
def _isolated_database(app):
    """The console shows data of all brands; brands of other tests have names that would fail these tests."""
    with databases.isolated_database():
        yield


@pytest.fixture
def full_brand(app):
    """A brand with at least one row of each kind."""
    return full_brands.create_full_brand(app)


@pytest.fixture
def enter(app):
    """Return a function that signs a person of a brand in by their kind and returns the browser."""

    def sign_in(kind, brand):
        arguments = {"member": ("--org", brand.brand.id), "account": ("--email", brand.email), "operator": ()}[kind]
        browser = Visitor(app)
        browser.open(Operator(app).json("sign-in", screens.KINDS[kind][0], *arguments)["url"])
        return browser

    return sign_in


def _pages(kind, brand):
    home = screens.KINDS[kind][1]
    for path, heading in _AREAS[kind].items():
        if brand.names or "<" not in path:
            yield screens.build_address(home + path, brand.names), heading


def _heading(html):
    return re.sub("<[^>]*>", "", re.search("<h1[^>]*>(.*?)</h1>", html, re.DOTALL)[1]).strip()


def _navigation(html, name):
    return re.search(f'<nav aria-label="{name}">.*?</nav>', html, re.DOTALL)[0]


@pytest.mark.parametrize("kind", _AREAS)
@pytest.mark.parametrize("which", ["full", "empty"])
def test_every_screen_has_its_address_and_heading(app, enter, full_brand, kind, which):
    brand = full_brand if which == "full" else full_brands.FullBrand(Brand.create(app), "nobody@nothing.example")
    browser, mismatches = enter(kind, brand), {}
    for path, heading in _pages(kind, brand):
        answer = browser.open(path)
        actual = (
            answer.status_code,
            _heading(answer.text),
            _navigation(answer.text, _NAMES[kind]).count('aria-current="page"'),
        )
        if actual != (200, heading or actual[1], 1):
            mismatches[path] = actual
    assert mismatches == {}


@pytest.mark.parametrize("kind", _AREAS)
def test_every_screen_has_the_headers(enter, full_brand, kind):
    browser = enter(kind, full_brand)
    for path, _ in _pages(kind, full_brand):
        headers = browser.open(path).headers
        policy = dict(part.strip().partition(" ")[::2] for part in headers["Content-Security-Policy"].split(";"))
        assert {word for words in policy.values() for word in words.split()} <= _POLICY, path
        assert policy["form-action"] == "'self'", path
        assert policy["frame-ancestors"] == policy["base-uri"] == "'none'", path
        assert "no-store" in headers["Cache-Control"], path
        assert headers["X-Content-Type-Options"] == "nosniff", path
        assert headers["Referrer-Policy"] == "no-referrer", path
        assert "Cookie" in headers["Vary"], path


@pytest.mark.parametrize("kind", _AREAS)
def test_unchanged_live_part_is_empty(enter, full_brand, kind):
    browser, live_parts = enter(kind, full_brand), 0
    for path, _ in _pages(kind, full_brand):
        html = browser.open(path).text
        assert html.count("data-live") == len(re.findall(r"data-live hx-get=", html)), path
        for address in re.findall(r'hx-get="([^"]*)"', html):
            answer = browser.open(address.replace("&amp;", "&"))
            assert (answer.status_code, answer.data) == (204, b""), f"{path}: {address}"
            assert "data-hold" in html, path
            live_parts += 1
    assert live_parts or kind == "account"


@pytest.mark.parametrize("kind", _AREAS)
def test_every_post_form_has_a_key_and_every_page_a_sign_out(enter, full_brand, kind):
    browser = enter(kind, full_brand)
    for path, _ in _pages(kind, full_brand):
        html = browser.open(path).text
        assert '<form method="post" action="/sign-out">' in html, path
        for form in re.findall(r"<form\b[^>]*method=\"?post.*?</form>", html, re.DOTALL | re.IGNORECASE):
            assert re.search(r'type="hidden" name="_key" value="[^"]+"', form), f"{path}: {form[:200]}"


@pytest.mark.parametrize("area", ["/dashboard", "/portal", "/console"])
@pytest.mark.parametrize(
    "next_page", ["//evil.test", "https://evil.test/", "/\\evil.test", "evil", "/dashboard\r\nX: y"]
)
def test_foreign_next_path_is_ignored(app, enter, full_brand, area, next_page):
    kind = {home: kind for kind, (_, home) in screens.KINDS.items()}[area]
    arguments = {"member": ("--org", full_brand.brand.id), "account": ("--email", full_brand.email), "operator": ()}[
        kind
    ]
    url = Operator(app).json("sign-in", screens.KINDS[kind][0], *arguments)["url"]
    path = "/" + url.split("/", 3)[3]
    answer = app.test_client().get(path, query_string={"next": next_page})
    assert (answer.status_code, answer.headers["Location"]) == (303, area)


def test_own_next_path_is_followed(app, full_brand):
    url = Operator(app).json("sign-in", "owner", "--org", full_brand.brand.id)["url"]
    path = "/" + url.split("/", 3)[3]
    answer = app.test_client().get(path, query_string={"next": "/dashboard/conversions?status=Pending"})
    assert (answer.status_code, answer.headers["Location"]) == (303, "/dashboard/conversions?status=Pending")


def test_dead_letter_is_not_discarded_without_a_reason(enter, full_brand):
    browser = enter("operator", full_brand)
    number = full_brand.names["number"]
    answer = browser.send(f"/console/dead/{number}/discard", {"why": "", "_key": "discard-without"})
    assert answer.status_code == 422
    assert 'role="alert"' in answer.text
    assert "<title>Error: " in answer.text
    assert 'aria-invalid="true"' in answer.text


@pytest.mark.parametrize("kind", _AREAS)
def test_unknown_and_other_tenants_ids_are_the_same_page(enter, full_brand, kind):
    answer = enter(kind, full_brand).open(f"{screens.KINDS[kind][1]}/nowhere")
    assert answer.status_code == 404
    assert answer.text.startswith("<!doctype html>")


def _find_machine_words(answer):
    """Return the words such as None or NaN that a page shows, each with its context."""
    text = re.sub(r"<(script|pre|textarea)\b.*?</\1>|<[^>]*>", " ", answer.text, flags=re.DOTALL)
    return [text[max(match.start() - 40, 0) : match.end() + 20] for match in _MACHINE_WORDS.finditer(text)]


@pytest.mark.parametrize("kind", _AREAS)
def test_refused_form_has_messages_for_people(app, enter, full_brand, kind):
    browser, words_by_rule = enter(kind, full_brand), {}
    for kind_of_rule, rule in screens.list_rules(app, "POST"):
        if kind_of_rule == kind:
            answer = browser.send(screens.build_address(rule, full_brand.names), {"_key": f"nothing {rule}"})
            words_by_rule |= {rule: words} if (words := _find_machine_words(answer)) else {}
            assert answer.status_code < 500, rule
    assert words_by_rule == {}


@pytest.mark.parametrize("kind", _AREAS)
def test_empty_filter_has_messages_for_people(enter, full_brand, kind):
    browser, words_by_query = enter(kind, full_brand), {}
    for path, _ in _pages(kind, full_brand):
        html = browser.open(path).text
        names = re.findall(
            r'<(?:input|select) id="[^"]*" name="([^"]+)"',
            "".join(re.findall(r'<form class="filters".*?</form>', html, re.DOTALL)),
        )
        for query in ({name: "zzz"} for name in names):
            answer = browser.client.get(path, query_string=query)
            words_by_query |= {f"{path} {query}": words} if (words := _find_machine_words(answer)) else {}
            assert answer.status_code < 500, path
        for status in ("Failed", "Rejected", "Undone", "Processing"):
            answer = browser.client.get(path, query_string={"status": status})
            words_by_query |= {f"{path} {status}": words} if (words := _find_machine_words(answer)) else {}
    assert words_by_query == {}
