"""What the pages' interface says of addresses, headings and answers, sentence by sentence."""

import re

import pytest

from tests.support import databases
from tests.support.operators import Operator
from tests.support.outside.visitor import Visitor
from tests.support.pages import full_brands, screens
from tests.support.rows.brands import Brand

# The heading is the last part of the path in words, else as it stands here; nothing after an id.
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
    "/coupons": "Coupons",
    "/webhooks": "Webhooks",
    "/webhooks/<endpoint_id>": None,
    "/webhooks/<endpoint_id>/deliveries/<delivery_id>": None,
    "/api-keys": "API keys",
    "/settings": "Settings",
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
_UNSPOKEN = re.compile(r"\b(None|null|undefined|NaN)\b")


@pytest.fixture(scope="module", autouse=True)
def _nobody_else(app):
    """The console shows what all brands wrote, and those of other tests are called what no person is."""
    with databases.isolated_database():
        yield


@pytest.fixture
def full_brand(app):
    """A brand with something of everything."""
    return full_brands.create_full_brand(app)


@pytest.fixture
def enter(app):
    """A factory of browsers in which a person of some kind of a brand is signed in."""

    def go(kind, brand):
        more = {"member": ("--org", brand.brand.id), "account": ("--email", brand.email), "operator": ()}[kind]
        found = Visitor(app)
        found.open(Operator(app).json("sign-in", screens.KINDS[kind][0], *more)["url"])
        return found

    return go


def _pages(kind, brand):
    home = screens.KINDS[kind][1]
    for path, heading in _AREAS[kind].items():
        if brand.names or "<" not in path:
            yield screens.build_address(home + path, brand.names), heading


def _heading(html):
    return re.sub("<[^>]*>", "", re.search("<h1[^>]*>(.*?)</h1>", html, re.DOTALL)[1]).strip()


def _bar(html, name):
    return re.search(f'<nav aria-label="{name}">.*?</nav>', html, re.DOTALL)[0]


@pytest.mark.parametrize("kind", _AREAS)
@pytest.mark.parametrize("which", ["full", "empty"])
def test_every_screen_has_its_address_and_heading(app, enter, full_brand, kind, which):
    brand = full_brand if which == "full" else full_brands.FullBrand(Brand.create(app), "nobody@nothing.example")
    browser, wrong = enter(kind, brand), {}
    for path, heading in _pages(kind, brand):
        answer = browser.open(path)
        found = answer.status_code, _heading(answer.text), _bar(answer.text, _NAMES[kind]).count('aria-current="page"')
        if found != (200, heading or found[1], 1):
            wrong[path] = found
    assert wrong == {}


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
    browser, seen = enter(kind, full_brand), 0
    for path, _ in _pages(kind, full_brand):
        html = browser.open(path).text
        assert html.count("data-live") == len(re.findall(r"data-live hx-get=", html)), path
        for address in re.findall(r'hx-get="([^"]*)"', html):
            answer = browser.open(address.replace("&amp;", "&"))
            assert (answer.status_code, answer.data) == (204, b""), f"{path}: {address}"
            assert "data-hold" in html, path
            seen += 1
    assert seen or kind == "account"


@pytest.mark.parametrize("kind", _AREAS)
def test_every_form_that_posts_names_its_request_and_sign_out_is_always_there(enter, full_brand, kind):
    browser = enter(kind, full_brand)
    for path, _ in _pages(kind, full_brand):
        html = browser.open(path).text
        assert '<form method="post" action="/sign-out">' in html, path
        for form in re.findall(r"<form\b[^>]*method=\"?post.*?</form>", html, re.DOTALL | re.IGNORECASE):
            assert re.search(r'type="hidden" name="_key" value="[^"]+"', form), f"{path}: {form[:200]}"


@pytest.mark.parametrize("area", ["/dashboard", "/portal", "/console"])
@pytest.mark.parametrize("next_", ["//evil.test", "https://evil.test/", "/\\evil.test", "evil", "/dashboard\r\nX: y"])
def test_foreign_next_path_is_ignored(app, enter, full_brand, area, next_):
    kind = {home: kind for kind, (_, home) in screens.KINDS.items()}[area]
    more = {"member": ("--org", full_brand.brand.id), "account": ("--email", full_brand.email), "operator": ()}[kind]
    url = Operator(app).json("sign-in", screens.KINDS[kind][0], *more)["url"]
    path = "/" + url.split("/", 3)[3]
    answer = app.test_client().get(path, query_string={"next": next_})
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


def _unspoken(answer):
    """Return the words of machines that a page says to people."""
    shown = re.sub(r"<(script|pre|textarea)\b.*?</\1>|<[^>]*>", " ", answer.text, flags=re.DOTALL)
    return [shown[max(found.start() - 40, 0) : found.end() + 20] for found in _UNSPOKEN.finditer(shown)]


@pytest.mark.parametrize("kind", _AREAS)
def test_refused_form_has_messages_for_people(app, enter, full_brand, kind):
    browser, said = enter(kind, full_brand), {}
    for of, rule in screens.list_rules(app, "POST"):
        if of == kind:
            answer = browser.send(screens.build_address(rule, full_brand.names), {"_key": f"nothing {rule}"})
            said |= {rule: found} if (found := _unspoken(answer)) else {}
            assert answer.status_code < 500, rule
    assert said == {}


@pytest.mark.parametrize("kind", _AREAS)
def test_empty_filter_has_messages_for_people(enter, full_brand, kind):
    browser, said = enter(kind, full_brand), {}
    for path, _ in _pages(kind, full_brand):
        html = browser.open(path).text
        names = re.findall(
            r'<(?:input|select) id="[^"]*" name="([^"]+)"',
            "".join(re.findall(r'<form class="filters".*?</form>', html, re.DOTALL)),
        )
        for query in ({name: "zzz"} for name in names):
            answer = browser.client.get(path, query_string=query)
            said |= {f"{path} {query}": found} if (found := _unspoken(answer)) else {}
            assert answer.status_code < 500, path
        for status in ("Failed", "Rejected", "Undone", "Processing"):
            answer = browser.client.get(path, query_string={"status": status})
            said |= {f"{path} {status}": found} if (found := _unspoken(answer)) else {}
    assert said == {}
