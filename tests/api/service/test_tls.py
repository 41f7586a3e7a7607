"""Which hosts a proxy may get a certificate for."""

import pytest

from tests.support.api.lists import count_round_trips
from tests.support.rows.link_visits import create_limiter
from tests.support.settings_overrides import override_settings


@pytest.fixture
def ask(app):
    client = app.test_client()
    return lambda domain: client.get("/api/tls/ask", query_string={"domain": domain})


def test_certificate_is_allowed_only_for_hosts_of_the_service(brand, ask, monkeypatch):
    override_settings(
        monkeypatch,
        web={"public_base_url": "https://Api.service.example:8443", "portal_domain": "partners.service.example"},
    )
    mark = brand.id.hex
    brand.program(custom_domain=f"verified.{mark}.example", custom_domain_verified=True)
    brand.program(custom_domain=f"waiting.{mark}.example")
    brand.set(
        trackingDomain=f"go.{mark}.example",
        trackingDomainVerified="on",
        portalHost=f"portal.{mark}.example",
        subdomain=f"b{mark[:20]}",
    )
    yes = [
        f"verified.{mark}.example",
        f"VERIFIED.{mark}.example.",
        f"go.{mark}.example",
        f"portal.{mark}.example",
        f"b{mark[:20]}.partners.service.example",
        "api.service.example",
    ]
    no = [
        f"waiting.{mark}.example",
        f"x.verified.{mark}.example",
        f"x.b{mark[:20]}.partners.service.example",
        "nobody.partners.service.example",
        "partners.service.example",
        f"b{mark[:20]}",
        "x.api.service.example",
        "",
        "localhost",
        "127.0.0.1",
        "\0",
        "%",
        "ä" * 90,
        "a." * 5_000,
        f"verified.{mark}.example:443",
        f"verified.{mark}.example/",
        "' or true --",
    ]

    assert {host: ask(host).status_code for host in yes} == dict.fromkeys(yes, 200)
    assert {host: ask(host).status_code for host in no} == dict.fromkeys(no, 404)
    assert ask(f"Verified.{mark}.example.").json == {"domain": f"verified.{mark}.example"}


def test_released_domain_gets_no_certificate(brand, ask):
    host = f"old.{brand.id.hex}.example"
    program = brand.program(custom_domain=host, custom_domain_verified=True)
    before = ask(host).status_code
    brand.call("DELETE", f"/api/v1/programs/{program}")

    assert (before, ask(host).status_code) == (200, 404)


def test_missing_domain_returns_404(app):
    assert app.test_client().get("/api/tls/ask").status_code == 404


def test_request_takes_one_round_trip_and_has_its_own_limit(app, brand, ask, monkeypatch):
    brand.set(trackingDomain=f"go.{brand.id.hex}.example", trackingDomainVerified="on")
    ask("warm.example")

    trips = count_round_trips(lambda: ask(f"go.{brand.id.hex}.example"))
    monkeypatch.setitem(app.extensions, "limiter", create_limiter(tls_ask=2, anonymous=1))

    assert trips <= 2  # the one statement, and the end of its transaction
    assert [ask("nobody.example").status_code for _ in range(3)] == [404, 404, 429]
