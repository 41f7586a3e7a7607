"""The cache of landing pages: the key in each page, and the effect of a brand's changes.

Source: tracking spec, "Public storefront" and "Public storefront program".
"""

import re

import pytest

from pages.hosted.landing.rendering import PageCache

_KEY = re.compile(r'name="_key" value="([^"]+)"')


def _key(page):
    (key,) = _KEY.findall(page)
    return key


def test_every_visitor_gets_an_own_key_in_the_cached_page(shop):
    pages = [shop.open().text for _ in range(3)]

    assert len({_key(page) for page in pages}) == 3
    assert len({page.replace(_key(page), "") for page in pages}) == 1


@pytest.mark.parametrize(
    ("table", "change", "text"),
    [
        ("program", "name = 'Coffee'", ">Coffee</h1>"),
        ("program", "description = 'Sell our coffee.'", "Sell our coffee."),
        ("program", "default_commission_value = 33", "33 % of each payment"),
        ("program", "cookie_window_days = 77", "77-day cookie"),
        ("program", "auto_approve = not auto_approve", "Your application is approved immediately."),
        ("program", "terms_url = 'https://acme.example/new'", "https://acme.example/new"),
        ("program", "is_publicly_discoverable = not is_publicly_discoverable", 'rel="canonical"'),
        ("organization", "name = 'Zenith'", "Zenith"),
        ("organization", "description = 'Since 1899.'", "Since 1899."),
        ("organization", "primary_brand_color = '#123456'", "/123456.css"),
    ],
)
def test_change_and_its_undoing_are_visible_at_the_next_request(shop, table, change, text):
    column = change.partition(" ")[0]
    ((before,),) = shop.brand.rows(f"select {column} from {table}")
    first = shop.open().text
    shop.brand.rows(f"update {table} set {change} returning 1")
    changed = shop.open().text
    shop.brand.rows(f"update {table} set {column} = %s returning 1", before)
    last = shop.open().text

    assert (text in first) != (text in changed)
    assert (text in last) == (text in first)


def test_archived_campaigns_cached_page_returns_404(shop):
    assert shop.open().status_code == 200
    shop.brand.rows("update program set archived_at = now() returning 1")

    assert shop.open().status_code == 404


def test_recruiter_of_one_visitor_is_not_in_the_cached_page(shop):
    without_recruiter = shop.open().text
    recruited = shop.open(f"{shop.path}?recruited_by=ben").text

    assert 'name="recruited_by" value="ben"' in recruited
    assert "recruited_by" not in without_recruiter + shop.open().text


def test_full_cache_evicts_the_least_recently_requested_page():
    pages, written = PageCache(max_bytes=25), []

    def request(name):
        def write(key):
            written.append(name)
            return f"{name:5}{key}{'':5}"

        return pages.get_or_write(name.encode(), write)

    for name in ("a", "b", "a", "c", "a", "b"):
        assert request(name).startswith(name.encode())

    assert written == ["a", "b", "c", "b"]
