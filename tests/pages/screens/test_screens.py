"""Rules of every screen: permission, origin of forms, headers, errors."""

import pytest

from tests.support.outside.visitor import Visitor

_HOMES = ("/dashboard", "/portal", "/console")
_POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self'",
    "connect-src": "'self'",
    "form-action": "'self'",
    "base-uri": "'none'",
    "frame-ancestors": "'none'",
}


@pytest.fixture
def people(app, links):
    """Signed-in browsers of a member, an affiliate and an operator, by start page."""
    browsers = {home: Visitor(app) for home in _HOMES}
    browsers["/dashboard"].open(links("owner"))
    # An affiliate of this test alone: the portal shows an affiliate's data at all brands.
    browsers["/portal"].open(links("affiliate", "--email", "ben-of-the-screens@example.com"))
    browsers["/console"].open(links("operator"))
    return browsers


@pytest.mark.parametrize("home", _HOMES)
def test_visitor_is_redirected_to_sign_in_and_back(visitor, home):
    answer = visitor.open(f"{home}/any?a=b")

    assert answer.status_code == 303
    assert answer.headers["Location"] == f"/sign-in?next=%2F{home[1:]}%2Fany%3Fa%3Db"


@pytest.mark.parametrize("home", _HOMES)
def test_screen_requires_its_kind_of_person(people, home):
    for own_home, browser in people.items():
        answer = browser.open(home)

        assert answer.status_code == (200 if own_home == home else 403)
        assert answer.text.count("<h1>") == 1
        assert browser.open(f"{home}/nothing").status_code == (404 if own_home == home else 403)


@pytest.mark.parametrize("home", _HOMES)
def test_navigation_links_only_to_its_area_and_marks_the_page(people, home):
    html = people[home].open(home).text
    bar = html.partition("<nav")[2].partition("</nav>")[0]

    assert bar.count('aria-current="page"') == 1
    assert f'<a href="{home}" aria-current="page">' in bar
    links = [part.partition('"')[0] for part in bar.split('href="')[1:] if part.startswith("/") and "svg" not in part]
    assert [link for link in links if not link.startswith(home) and link != "/switch-organization"] == []
    assert "Sign out" in html


def test_every_page_has_the_headers_of_pages(people):
    pages = ["/sign-in", "/sign-in/link/none", "/dashboard/none", *_HOMES]
    for browser in people.values():
        for path in pages:
            headers = browser.open(path).headers
            policy = dict(part.split(" ", 1) for part in headers["Content-Security-Policy"].split("; "))

            assert policy == _POLICY
            assert headers["Cache-Control"] == "no-store"
            assert headers["X-Content-Type-Options"] == "nosniff"
            assert headers["Referrer-Policy"] == "no-referrer"
            assert "Cookie" in headers["Vary"]


def test_own_origin_header_is_accepted_without_fetch_metadata(people):
    answer = people["/dashboard"].client.post("/sign-out", headers={"Origin": "http://127.0.0.1:8000"})

    assert answer.status_code == 303


def test_theme_choice_returns_only_to_own_pages(people):
    browser = people["/portal"]
    answer = browser.send("/theme", {"theme": "dark", "back": "/portal"})
    assert answer.headers["Location"] == "/portal"
    assert '<html lang="en" data-theme="dark">' in browser.open("/portal").text

    answer_for_foreign_page = browser.send("/theme", {"theme": "blink", "back": "//evil.test"})
    assert answer_for_foreign_page.headers["Location"] == "/sign-in"
    assert '<html lang="en">' in browser.open("/portal").text


def test_brand_sees_its_own_overview(app, brand, rival, flask, drain):
    rival.program()
    rival.affiliate("eva")
    rival.sale(affiliateSlug="eva", amountCents=77_700)
    drain()
    visitor = Visitor(app)
    visitor.open(flask.json("sign-in", "owner", "--org", brand.id)["url"])
    assert "Create your first program" in visitor.open("/dashboard").text

    visitor.open(flask.json("sign-in", "owner", "--org", rival.id)["url"])
    html = visitor.open("/dashboard").text
    assert "<dd>155.40 USD</dd>" in html
    assert "Create your first program" not in html


def test_waiting_work_matches_the_api(app, brand, links):
    brand.program()
    brand.affiliate("paused", status="Paused")
    brand.affiliate("new", status="Pending", approved_at=None)
    brand.sale(affiliateSlug="paused", amountCents=1_234_50)
    visitor = Visitor(app)
    visitor.open(links("owner", "--role", "Viewer"))
    html = visitor.open("/dashboard").text

    assert '<b class="num">1</b> pending application' in html
    assert '<b class="num">1</b> sale without a credited affiliate' in html
    assert "1,234.50 USD" in html


def test_internal_error_is_a_page_with_the_request_id(people, monkeypatch):
    from pages.console import status

    monkeypatch.setattr(status.api_client, "require", lambda view: 1 / 0)
    answer = people["/console"].open("/console")

    assert answer.status_code == 500
    assert answer.mimetype == "text/html"
    assert answer.headers["X-Request-Id"] in answer.text
