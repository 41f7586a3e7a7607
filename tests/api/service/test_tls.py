"""The hosts for which a proxy may request a certificate."""

import pytest

from tests.support.api.lists import count_round_trips
from tests.support.rows.link_visits import create_limiter
from tests.support.settings_overrides import override_settings


@pytest.fixture
def ask_for_certificate(app):
    client = app.test_client()
    return lambda domain: client.get("/api/tls/ask", query_string={"domain": domain})


def test_certificate_is_allowed_only_for_hosts_of_the_service(brand, ask_for_certificate, monkeypatch):
    override_settings(
        monkeypatch,
        web={"public_base_url": "https://Api.service.example:8443", "portal_domain": "partners.service.example"},
    )
    suffix = brand.id.hex
    brand.program(custom_domain=f"verified.{suffix}.example", custom_domain_verified=True)
    brand.program(custom_domain=f"waiting.{suffix}.example")
    brand.set(
        trackingDomain=f"go.{suffix}.example",
        trackingDomainVerified="on",
        portalHost=f"portal.{suffix}.example",
        subdomain=f"b{suffix[:20]}",
    )
    allowed_hosts = [
        f"verified.{suffix}.example",
        f"VERIFIED.{suffix}.example.",
        f"go.{suffix}.example",
        f"portal.{suffix}.example",
        f"b{suffix[:20]}.partners.service.example",
        "api.service.example",
    ]
    refused_hosts = [
        f"waiting.{suffix}.example",
        f"x.verified.{suffix}.example",
        f"x.b{suffix[:20]}.partners.service.example",
        "nobody.partners.service.example",
        "partners.service.example",
        f"b{suffix[:20]}",
        "x.api.service.example",
        "",
        "localhost",
        "127.0.0.1",
        "\0",
        "%",
        "ä" * 90,
        "a." * 5_000,
        f"verified.{suffix}.example:443",
        f"verified.{suffix}.example/",
        "' or true --",
    ]

    assert {host: ask_for_certificate(host).status_code for host in allowed_hosts} == dict.fromkeys(allowed_hosts, 200)
    assert {host: ask_for_certificate(host).status_code for host in refused_hosts} == dict.fromkeys(refused_hosts, 404)
    assert ask_for_certificate(f"Verified.{suffix}.example.").json == {"domain": f"verified.{suffix}.example"}


def test_released_domain_gets_no_certificate(brand, ask_for_certificate):
    host = f"old.{brand.id.hex}.example"
    program = brand.program(custom_domain=host, custom_domain_verified=True)
    before = ask_for_certificate(host).status_code
    brand.call("DELETE", f"/api/v1/programs/{program}")

    assert (before, ask_for_certificate(host).status_code) == (200, 404)


def test_missing_domain_returns_404(app):
    assert app.test_client().get("/api/tls/ask").status_code == 404


def test_request_takes_one_round_trip_and_has_its_own_limit(app, brand, ask_for_certificate, monkeypatch):
    brand.set(trackingDomain=f"go.{brand.id.hex}.example", trackingDomainVerified="on")
    ask_for_certificate("warm.example")

    trips = count_round_trips(lambda: ask_for_certificate(f"go.{brand.id.hex}.example"))
    monkeypatch.setitem(app.extensions, "limiter", create_limiter(tls_ask=2, anonymous=1))

    assert trips <= 2  # the one statement, and the end of its transaction
    assert [ask_for_certificate("nobody.example").status_code for _ in range(3)] == [404, 404, 429]
