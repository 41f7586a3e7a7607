"""Compression of pages: a signed-in person's page is compressed only if no other site can have chosen its address."""

import gzip

import pytest

from api.edge import compression


def _open(visitor, path, **headers):
    return visitor.open(path, Accept_Encoding="gzip, deflate, br", **headers)


@pytest.fixture
def owner(visitor, links):
    """A browser in which an Owner is signed in."""
    visitor.open(links("owner"))
    return visitor


@pytest.mark.parametrize("site", ["same-origin", "none"])
def test_page_that_the_person_opens_is_compressed(owner, site):
    page = _open(owner, "/dashboard", Sec_Fetch_Site=site)

    assert page.headers["Content-Encoding"] == "gzip"
    assert "Accept-Encoding" in page.headers["Vary"]
    assert "<h1>Overview</h1>" in gzip.decompress(page.data).decode()


@pytest.mark.parametrize("headers", [{}, {"Sec_Fetch_Site": "cross-site"}, {"Sec_Fetch_Site": "same-site"}])
def test_page_of_a_person_that_another_site_may_have_opened_is_not_compressed(owner, headers):
    page = _open(owner, "/dashboard/search?q=chosen", **headers)

    assert "Content-Encoding" not in page.headers
    assert "chosen" in page.text


@pytest.mark.parametrize("site", [None, "cross-site"])
def test_page_without_a_cookie_is_compressed_for_everyone(visitor, site):
    page = _open(visitor, "/sign-in", **({"Sec_Fetch_Site": site} if site else {}))

    assert page.headers["Content-Encoding"] == "gzip"


def test_every_list_and_form_of_an_owner_is_compressed(app, owner):
    paths = {
        rule.rule
        for rule in app.url_map.iter_rules()
        if rule.rule.startswith("/dashboard") and not rule.arguments and "GET" in rule.methods
    }
    pages = {path: _open(owner, path, Sec_Fetch_Site="same-origin") for path in sorted(paths)}
    html = {path: page for path, page in pages.items() if page.status_code == 200 and page.mimetype == "text/html"}

    assert len(html) > 20
    plain = {path: len(page.data) for path, page in html.items() if page.headers.get("Content-Encoding") != "gzip"}
    assert {path: size for path, size in plain.items() if size >= compression.MIN_BYTES} == {}
