"""A landing page that was written before: whose key is in it, and what becomes of it when its brand changes something.

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
    ("table", "change", "said"),
    [
        ("program", "name = 'Coffee'", ">Coffee</h1>"),
        ("program", "description = 'Sell our coffee.'", "Sell our coffee."),
        ("program", "default_commission_value = 33", "33 % of each payment"),
        ("program", "cookie_window_days = 77", "within 77 days"),
        ("program", "auto_approve = not auto_approve", "You are in as soon as you apply."),
        ("program", "terms_url = 'https://acme.example/new'", "https://acme.example/new"),
        ("program", "is_publicly_discoverable = not is_publicly_discoverable", 'rel="canonical"'),
        ("organization", "name = 'Zenith'", "Zenith"),
        ("organization", "description = 'Since 1899.'", "Since 1899."),
        ("organization", "primary_brand_color = '#123456'", "/123456.css"),
    ],
)
def test_change_and_its_undoing_are_visible_at_the_next_request(shop, table, change, said):
    column = change.partition(" ")[0]
    ((before,),) = shop.brand.rows(f"select {column} from {table}")
    first = shop.open().text
    shop.brand.rows(f"update {table} set {change} returning 1")
    changed = shop.open().text
    shop.brand.rows(f"update {table} set {column} = %s returning 1", before)
    last = shop.open().text

    assert (said in first) != (said in changed)
    assert (said in last) == (said in first)


def test_ended_campaign_has_no_page_although_it_is_cached(shop):
    assert shop.open().status_code == 200
    shop.brand.rows("update program set archived_at = now() returning 1")

    assert shop.open().status_code == 404


def test_recruiter_is_only_on_the_page_of_their_visitor(shop):
    plain = shop.open().text
    sent = shop.open(f"{shop.path}?recruited_by=ben").text

    assert 'name="recruited_by" value="ben"' in sent
    assert "recruited_by" not in plain + shop.open().text


def test_full_cache_evicts_the_least_recently_requested_page():
    pages, written = PageCache(max_bytes=25), []

    def ask(name):
        def write(key):
            written.append(name)
            return f"{name:5}{key}{'':5}"

        return pages.get_or_write(name.encode(), write)

    for name in ("a", "b", "a", "c", "a", "b"):
        assert ask(name).startswith(name.encode())

    assert written == ["a", "b", "c", "b"]
