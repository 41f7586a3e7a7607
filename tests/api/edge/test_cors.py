"""The origins whose pages may read answers. Source: core spec, section 8 "CORS"."""

import pytest

from api.edge import cors
from models import db
from tests.support.settings_overrides import override_settings

PREFLIGHT = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization"}


@pytest.fixture
def surfaces(monkeypatch):
    web = {"cors_origins": ("https://app.brand.test",), "portal_domain": "partners.test"}
    settings = override_settings(monkeypatch, web=web)
    cors.clear_cache()
    return settings


def _get_allowed_origin(brand, origin):
    return brand.get("/api/v1/programs", Origin=origin).headers.get("Access-Control-Allow-Origin")


def _get_subdomain(brand):
    return brand.rows("select subdomain from organization")[0][0]


def test_own_origins_are_allowed(brand, surfaces):
    assert _get_allowed_origin(brand, "https://app.brand.test") == "https://app.brand.test"
    assert _get_allowed_origin(brand, "http://127.0.0.1:8000") == "http://127.0.0.1:8000"


def test_branded_subdomain_is_allowed(brand, surfaces):
    origin = f"https://{_get_subdomain(brand)}.partners.test"

    assert _get_allowed_origin(brand, origin) == origin


def test_only_verified_custom_domains_are_allowed(brand, surfaces):
    verified, unverified = f"{brand.id.hex}.test", f"w{brand.id.hex}.test"
    brand.program(custom_domain=verified, custom_domain_verified=True)
    brand.program(custom_domain=unverified)

    assert _get_allowed_origin(brand, f"https://{verified}") == f"https://{verified}"
    assert _get_allowed_origin(brand, f"https://{unverified}") is None


@pytest.mark.parametrize(
    "origin",
    [
        "http://{subdomain}.partners.test",
        "https://{subdomain}.partners.test:8443",
        "https://{subdomain}.partners.test/",
        "https://{subdomain}.partners.test.evil.test",
        "https://evil{subdomain}.partners.test",
        "https://{subdomain}",
        "https://partners.test",
        "https://user@{subdomain}.partners.test",
        "https://[::1",
        "null",
        "https://app.brand.test.evil.test",
    ],
)
def test_origin_that_resembles_an_allowed_one_is_refused(brand, surfaces, origin):
    assert _get_allowed_origin(brand, origin.format(subdomain=_get_subdomain(brand))) is None


def test_preflight_returns_methods_and_headers(app, surfaces):
    answer = app.test_client().options("/api/v1/programs", headers={"Origin": "https://app.brand.test", **PREFLIGHT})

    assert answer.status_code == 204
    assert "PATCH" in answer.headers["Access-Control-Allow-Methods"]
    assert "Idempotency-Key" in answer.headers["Access-Control-Allow-Headers"]
    assert answer.headers["Access-Control-Allow-Origin"] == "https://app.brand.test"


def test_answer_varies_by_origin(brand, surfaces):
    assert "Origin" in brand.get("/api/v1/programs", Origin="https://evil.test").headers["Vary"]


@pytest.mark.parametrize("path", ["/api/openapi.json", "/api/v1/settings/attribution-params/defaults", "/api/v1/none"])
def test_answer_without_an_origin_varies_by_origin_too(app, path):
    answer = app.test_client().get(path)

    assert "Origin" in answer.headers["Vary"]
    assert "Access-Control-Allow-Origin" not in answer.headers


def test_error_response_allows_own_origins(brand, surfaces):
    answer = brand.get("/api/v1/programs/none", Origin="https://app.brand.test")

    assert answer.status_code == 404
    assert answer.headers["Access-Control-Allow-Origin"] == "https://app.brand.test"


def test_without_a_database_unknown_origins_are_refused_and_answers_are_sent(app, surfaces, monkeypatch):
    def raise_unavailable(*_, **__):
        raise db.UNAVAILABLE[0]("away")

    monkeypatch.setattr("api.edge.cors.db.any_org_work", raise_unavailable)

    answer = app.test_client().get("/healthz", headers={"Origin": "https://evil.partners.test"})

    assert answer.status_code == 200
    assert "Access-Control-Allow-Origin" not in answer.headers
