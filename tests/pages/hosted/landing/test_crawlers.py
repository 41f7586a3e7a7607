"""Sitemaps and robots.txt. Source: core spec, "Program" (isPubliclyDiscoverable: noindex, not in the sitemap)."""

import re
from datetime import UTC, datetime
from xml.etree import ElementTree

import pytest

from api.storefront import sitemap

_BASE = "http://127.0.0.1:8000"
_NAMESPACE = "{http://www.sitemaps.org/schemas/sitemap/0.9}"


def _sitemap_urls(answer, kind="url"):
    assert (answer.status_code, answer.content_type) == (200, "application/xml; charset=utf-8")
    root = ElementTree.fromstring(answer.data)
    assert root.tag == f"{_NAMESPACE}{'urlset' if kind == 'url' else 'sitemapindex'}"
    return [entry.find(f"{_NAMESPACE}loc").text for entry in root.findall(f"{_NAMESPACE}{kind}")]


@pytest.fixture
def shop_with_campaigns(shop):
    """The shop with discoverable and undiscoverable campaigns."""
    shop.brand.program(slug="hidden", is_publicly_discoverable=False)
    shop.brand.program(slug="paused", is_active=False)
    shop.brand.program(slug="archived", archived_at=datetime.now(UTC))
    shop.brand.program(slug="coffee")
    return shop


def test_service_host_lists_all_discoverable_pages(shop_with_campaigns, rival):
    rival.program(slug="theirs")

    urls = _sitemap_urls(shop_with_campaigns.open("/sitemap.xml"))

    assert sorted(url for url in urls if shop_with_campaigns.handle in url) == [
        f"{_BASE}/p/{shop_with_campaigns.handle}/coffee",
        f"{_BASE}/p/{shop_with_campaigns.handle}/tea",
    ]
    assert any(url.endswith("/theirs") for url in urls)
    assert re.search(r"<lastmod>\d{4}-\d\d-\d\d</lastmod>", shop_with_campaigns.open("/sitemap.xml").text)


def test_domain_lists_only_its_campaign(shop_with_campaigns):
    sql = "update program set custom_domain = %s, custom_domain_verified = true where slug = %s returning id"
    shop_with_campaigns.brand.rows(sql, shop_with_campaigns.domain, "tea")
    shop_with_campaigns.brand.rows(sql, f"hidden.{shop_with_campaigns.domain}", "hidden")
    shop_with_campaigns.brand.set(portalHost=f"portal.{shop_with_campaigns.domain}")

    assert _sitemap_urls(shop_with_campaigns.open("/sitemap.xml", shop_with_campaigns.domain)) == [
        f"https://{shop_with_campaigns.domain}/"
    ]
    assert _sitemap_urls(shop_with_campaigns.open("/sitemap.xml", f"hidden.{shop_with_campaigns.domain}")) == []
    assert sorted(_sitemap_urls(shop_with_campaigns.open("/sitemap.xml", f"portal.{shop_with_campaigns.domain}"))) == [
        f"https://portal.{shop_with_campaigns.domain}/{slug}" for slug in ("coffee", "tea")
    ]
    assert shop_with_campaigns.open("/sitemap-1.xml", shop_with_campaigns.domain).status_code == 404


@pytest.mark.usefixtures("isolated_database")
def test_large_sitemap_is_split(shop_with_campaigns, monkeypatch):
    shop_with_campaigns.brand.program(slug="third")
    all_urls = _sitemap_urls(shop_with_campaigns.open("/sitemap.xml"))
    monkeypatch.setattr(sitemap, "MAX_ENTRIES", 2)

    pages = _sitemap_urls(shop_with_campaigns.open("/sitemap.xml"), "sitemap")

    assert pages == [f"{_BASE}/sitemap-1.xml", f"{_BASE}/sitemap-2.xml"]
    urls_by_page = [_sitemap_urls(shop_with_campaigns.open(urls_of_page.removeprefix(_BASE))) for urls_of_page in pages]
    assert [len(urls_of_page) for urls_of_page in urls_by_page] == [2, 1]
    assert [url for urls_of_page in urls_by_page for url in urls_of_page] == all_urls
    for number in ("0", "3", "1001", "99999999999999999999", "-1", "x"):
        assert shop_with_campaigns.open(f"/sitemap-{number}.xml").status_code == 404


def test_robots_txt_excludes_pages_and_names_the_sitemap(shop_with_campaigns):
    sql = "update program set custom_domain = %s, custom_domain_verified = true where slug = 'tea' returning id"
    shop_with_campaigns.brand.rows(sql, shop_with_campaigns.domain)

    service_answer, domain_answer, unknown_host_answer = (
        shop_with_campaigns.open("/robots.txt", host)
        for host in (None, shop_with_campaigns.domain, "www.nobodys.example")
    )

    for answer in (service_answer, domain_answer, unknown_host_answer):
        assert (answer.status_code, answer.content_type) == (200, "text/plain; charset=utf-8")
        assert "Disallow: /dashboard\n" in answer.text
        assert "Disallow: /p" not in answer.text.replace("Disallow: /portal", "")
    assert f"Sitemap: {_BASE}/sitemap.xml\n" in service_answer.text
    assert f"Sitemap: https://{shop_with_campaigns.domain}/sitemap.xml\n" in domain_answer.text
    assert unknown_host_answer.text == service_answer.text
