"""Whose page a host is. Source: core spec, "Program" (customDomain); tracking spec, "Sub-affiliate recruiting"."""

import pytest

import settings


@pytest.fixture
def own(shop):
    """The shop with a verified domain of its campaign."""
    _point(shop, "tea", shop.domain)
    return shop


def _point(shop, slug, domain, *, is_verified=True):
    sql = "update program set custom_domain = %s, custom_domain_verified = %s where slug = %s returning id"
    shop.brand.rows(sql, domain, is_verified, slug)


def _is_front_page(answer):
    return answer.status_code == 200 and "<h1>Finderfee runs</h1>" in answer.text


def test_a_verified_domain_shows_its_campaign_however_it_is_spelled(own):
    for host in (own.domain, own.domain.upper(), f"{own.domain}.", f"{own.domain}:8443", f"{own.domain}.:443"):
        answer = own.open("/", host, Accept="application/json")

        assert answer.status_code == 200, host
        assert '<h1 itemprop="name">Tea</h1>' in answer.text
        assert f'<link rel="canonical" href="https://{own.domain}/">' in answer.text
    assert f'href="https://{own.domain}/"' in own.open().text  # wherever the page is seen


def test_one_applies_on_the_domain_itself(own):
    answer = own.apply("/?recruited_by=ann", host=own.domain)

    assert (answer.status_code, answer.headers["Location"]) == (303, f"{own.path}?applied=1#apply")
    assert "Thank you" in own.open(f"{own.path}?applied=1", own.domain).text
    assert own.brand.rows("select email from affiliate") == [("ada@example.com",)]


def test_unknown_host_shows_the_services_own_page(own, rival):
    rival.program(slug="theirs")
    rival.rows("update program set custom_domain = %s returning id", f"www.{own.domain}")  # never verified
    strange = (
        f"www.{own.domain}",
        f"evil.example/{own.domain}",
        f"{own.domain}@evil.example",
        f"{own.domain}:port",
        "b\u00fccher.example",
        "xn--bcher-kva.example",
        "127.0.0.1:8000",
        "[::1]:8000",
        "localhost",
        "x" * 300 + ".example",
        "",
    )
    for host in strange:
        answer = own.visitor.client.get("/", headers={"Host": host.encode().decode("latin-1")})

        assert answer.status_code == 400 or _is_front_page(answer), host
        assert ">Tea<" not in answer.text
        assert own.open("/tea", host="www.nobodys.example").status_code == 404


def test_the_services_own_host_keeps_its_front_page_and_its_404(own, monkeypatch):
    monkeypatch.setenv("PUBLIC_BASE_URL", f"https://{own.domain}")
    settings.current.cache_clear()
    try:
        front, unknown = own.open("/", own.domain), own.open("/tea", own.domain)
    finally:
        settings.current.cache_clear()

    assert _is_front_page(front)
    assert (unknown.status_code, unknown.json["error"]) == (404, "not_found")


def test_domain_of_a_closed_campaign_reveals_nothing(own):
    own.brand.rows("update program set is_active = false returning id")

    answer = own.open("/", own.domain)

    assert (answer.status_code, answer.text) == (404, own.open("/p/nobody-has-this").text)


def test_recruiting_links_lead_to_the_page_on_every_host_that_they_name(own, monkeypatch):
    monkeypatch.setenv("PORTAL_DOMAIN", "portals.example")
    settings.current.cache_clear()
    portal_host = f"portal.{own.brand.id.hex}.example"
    own.brand.set(portalHost=portal_host)
    own.brand.program(slug="coffee", name="Coffee")
    own.brand.call("PATCH", f"/api/v1/programs/{own.brand.programs[-1]}", {"slug": "mocha"})
    try:
        for host in (own.domain, portal_host, f"{own.handle}.portals.example"):
            page = own.open("/mocha?recruited_by=ann", host)
            moved = own.open("/coffee?recruited_by=ann", host)

            assert 'name="recruited_by" value="ann"' in page.text, host
            assert "<h1" in own.open("/", host).text
            assert (moved.status_code, moved.headers["Location"]) == (301, "/mocha?recruited_by=ann")
            assert own.open("/nothing", host).status_code == 404
            assert own.open("/healthz", host).mimetype != "text/html"
        assert _is_front_page(own.open("/", "portals.example"))
        assert _is_front_page(own.open("/", "nobody-has-this.portals.example"))
    finally:
        settings.current.cache_clear()


def test_an_address_of_the_service_that_does_not_take_a_method_still_says_so(own):
    for path in ("/healthz", "/docs", "/"):
        assert own.send({}, path).status_code == 405
