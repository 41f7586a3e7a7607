"""What crawlers find. Source: core spec, "Program" (isPubliclyDiscoverable: noindex, left out of the sitemap)."""

import re
from datetime import UTC, datetime
from xml.etree import ElementTree

import pytest

from api.storefront import sitemap

_BASE = "http://127.0.0.1:8000"
_NAME = "{http://www.sitemaps.org/schemas/sitemap/0.9}"


def _sitemap_urls(answer, kind="url"):
    assert (answer.status_code, answer.content_type) == (200, "application/xml; charset=utf-8")
    root = ElementTree.fromstring(answer.data)
    assert root.tag == f"{_NAME}{'urlset' if kind == 'url' else 'sitemapindex'}"
    return [one.find(f"{_NAME}loc").text for one in root.findall(f"{_NAME}{kind}")]


@pytest.fixture
def several(shop):
    """The shop with campaigns that may be found, and with some that may not."""
    shop.brand.program(slug="hidden", is_publicly_discoverable=False)
    shop.brand.program(slug="paused", is_active=False)
    shop.brand.program(slug="archived", archived_at=datetime.now(UTC))
    shop.brand.program(slug="coffee")
    return shop


def test_service_host_lists_all_discoverable_pages(several, rival):
    rival.program(slug="theirs")

    listed = _sitemap_urls(several.open("/sitemap.xml"))

    assert sorted(url for url in listed if several.handle in url) == [
        f"{_BASE}/p/{several.handle}/coffee",
        f"{_BASE}/p/{several.handle}/tea",
    ]
    assert any(url.endswith("/theirs") for url in listed)
    assert re.search(r"<lastmod>\d{4}-\d\d-\d\d</lastmod>", several.open("/sitemap.xml").text)


def test_domain_lists_only_its_campaign(several):
    sql = "update program set custom_domain = %s, custom_domain_verified = true where slug = %s returning id"
    several.brand.rows(sql, several.domain, "tea")
    several.brand.rows(sql, f"hidden.{several.domain}", "hidden")
    several.brand.set(portalHost=f"portal.{several.domain}")

    assert _sitemap_urls(several.open("/sitemap.xml", several.domain)) == [f"https://{several.domain}/"]
    assert _sitemap_urls(several.open("/sitemap.xml", f"hidden.{several.domain}")) == []
    assert sorted(_sitemap_urls(several.open("/sitemap.xml", f"portal.{several.domain}"))) == [
        f"https://portal.{several.domain}/{slug}" for slug in ("coffee", "tea")
    ]
    assert several.open("/sitemap-1.xml", several.domain).status_code == 404


@pytest.mark.usefixtures("isolated_database")
def test_large_sitemap_is_split(several, monkeypatch):
    several.brand.program(slug="third")
    everything = _sitemap_urls(several.open("/sitemap.xml"))
    monkeypatch.setattr(sitemap, "MAX_ENTRIES", 2)

    pages = _sitemap_urls(several.open("/sitemap.xml"), "sitemap")

    assert pages == [f"{_BASE}/sitemap-1.xml", f"{_BASE}/sitemap-2.xml"]
    found = [_sitemap_urls(several.open(page.removeprefix(_BASE))) for page in pages]
    assert [len(page) for page in found] == [2, 1]
    assert [url for page in found for url in page] == everything
    for number in ("0", "3", "1001", "99999999999999999999", "-1", "x"):
        assert several.open(f"/sitemap-{number}.xml").status_code == 404


def test_robots_txt_excludes_pages_and_names_the_sitemap(several):
    sql = "update program set custom_domain = %s, custom_domain_verified = true where slug = 'tea' returning id"
    several.brand.rows(sql, several.domain)

    ours, theirs, nobodys = (
        several.open("/robots.txt", host) for host in (None, several.domain, "www.nobodys.example")
    )

    for answer in (ours, theirs, nobodys):
        assert (answer.status_code, answer.content_type) == (200, "text/plain; charset=utf-8")
        assert "Disallow: /dashboard\n" in answer.text
        assert "Disallow: /p" not in answer.text.replace("Disallow: /portal", "")
    assert f"Sitemap: {_BASE}/sitemap.xml\n" in ours.text
    assert f"Sitemap: https://{several.domain}/sitemap.xml\n" in theirs.text
    assert nobodys.text == ours.text
