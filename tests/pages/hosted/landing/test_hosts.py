"""Landing pages by host. Source: core spec, "Program" (customDomain); tracking spec, "Sub-affiliate recruiting"."""

import pytest

import settings


@pytest.fixture
def domain_shop(shop):
    """The shop with a verified domain of its campaign."""
    _set_domain(shop, "tea", shop.domain)
    return shop


def _set_domain(shop, slug, domain, *, is_verified=True):
    sql = "update program set custom_domain = %s, custom_domain_verified = %s where slug = %s returning id"
    shop.brand.rows(sql, domain, is_verified, slug)


def _is_front_page(answer):
    return answer.status_code == 200 and "<h1>Finderfee</h1>" in answer.text


def test_verified_domain_shows_its_campaign_in_any_spelling(domain_shop):
    for host in (
        domain_shop.domain,
        domain_shop.domain.upper(),
        f"{domain_shop.domain}.",
        f"{domain_shop.domain}:8443",
        f"{domain_shop.domain}.:443",
    ):
        answer = domain_shop.open("/", host, Accept="application/json")

        assert answer.status_code == 200, host
        assert '<h1 itemprop="name">Tea</h1>' in answer.text
        assert f'<link rel="canonical" href="https://{domain_shop.domain}/">' in answer.text
    assert f'href="https://{domain_shop.domain}/"' in domain_shop.open().text  # on the service's own host too


def test_application_works_on_the_domain(domain_shop):
    answer = domain_shop.apply("/?recruited_by=ann", host=domain_shop.domain)

    assert (answer.status_code, answer.headers["Location"]) == (303, f"{domain_shop.path}?applied=1#apply")
    assert "Thank you" in domain_shop.open(f"{domain_shop.path}?applied=1", domain_shop.domain).text
    assert domain_shop.brand.rows("select email from affiliate") == [("ada@example.com",)]


def test_unknown_host_shows_the_services_own_page(domain_shop, rival):
    rival.program(slug="theirs")
    rival.rows("update program set custom_domain = %s returning id", f"www.{domain_shop.domain}")  # never verified
    unknown_hosts = (
        f"www.{domain_shop.domain}",
        f"evil.example/{domain_shop.domain}",
        f"{domain_shop.domain}@evil.example",
        f"{domain_shop.domain}:port",
        "b\u00fccher.example",
        "xn--bcher-kva.example",
        "127.0.0.1:8000",
        "[::1]:8000",
        "localhost",
        "x" * 300 + ".example",
        "",
    )
    for host in unknown_hosts:
        answer = domain_shop.visitor.client.get("/", headers={"Host": host.encode().decode("latin-1")})

        assert answer.status_code == 400 or _is_front_page(answer), host
        assert ">Tea<" not in answer.text
        assert domain_shop.open("/tea", host="www.nobodys.example").status_code == 404


def test_services_own_host_keeps_its_front_page_and_its_404(domain_shop, monkeypatch):
    monkeypatch.setenv("PUBLIC_BASE_URL", f"https://{domain_shop.domain}")
    settings.current.cache_clear()
    try:
        front, unknown = domain_shop.open("/", domain_shop.domain), domain_shop.open("/tea", domain_shop.domain)
    finally:
        settings.current.cache_clear()

    assert _is_front_page(front)
    assert (unknown.status_code, unknown.json["error"]) == (404, "not_found")


def test_domain_of_a_closed_campaign_reveals_nothing(domain_shop):
    domain_shop.brand.rows("update program set is_active = false returning id")

    answer = domain_shop.open("/", domain_shop.domain)

    assert (answer.status_code, answer.text) == (404, domain_shop.open("/p/nobody-has-this").text)


def test_recruiting_link_opens_the_page_on_every_host(domain_shop, monkeypatch):
    monkeypatch.setenv("PORTAL_DOMAIN", "portals.example")
    settings.current.cache_clear()
    portal_host = f"portal.{domain_shop.brand.id.hex}.example"
    domain_shop.brand.set(portalHost=portal_host)
    domain_shop.brand.program(slug="coffee", name="Coffee")
    domain_shop.brand.call("PATCH", f"/api/v1/programs/{domain_shop.brand.programs[-1]}", {"slug": "mocha"})
    try:
        for host in (domain_shop.domain, portal_host, f"{domain_shop.handle}.portals.example"):
            page = domain_shop.open("/mocha?recruited_by=ann", host)
            former_slug_answer = domain_shop.open("/coffee?recruited_by=ann", host)

            assert 'name="recruited_by" value="ann"' in page.text, host
            assert "<h1" in domain_shop.open("/", host).text
            assert (former_slug_answer.status_code, former_slug_answer.headers["Location"]) == (
                301,
                "/mocha?recruited_by=ann",
            )
            assert domain_shop.open("/nothing", host).status_code == 404
            assert domain_shop.open("/healthz", host).mimetype != "text/html"
        assert _is_front_page(domain_shop.open("/", "portals.example"))
        assert _is_front_page(domain_shop.open("/", "nobody-has-this.portals.example"))
    finally:
        settings.current.cache_clear()


def test_wrong_method_on_a_domain_returns_405(domain_shop):
    for path in ("/healthz", "/docs", "/"):
        assert domain_shop.send({}, path).status_code == 405
