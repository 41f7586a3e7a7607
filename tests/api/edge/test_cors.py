"""Which pages may read answers. Source: core spec, section 8 "CORS"."""

import pytest

from api.edge import cors
from models import db
from tests.support.settings_overrides import override_settings

ASKS = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization"}


@pytest.fixture
def surfaces(monkeypatch):
    ours = {"cors_origins": ("https://app.brand.test",), "portal_domain": "partners.test"}
    chosen = override_settings(monkeypatch, web=ours)
    cors.clear_cache()
    return chosen


def _allowed(brand, origin):
    return brand.get("/api/v1/programs", Origin=origin).headers.get("Access-Control-Allow-Origin")


def _subdomain(brand):
    return brand.rows("select subdomain from organization")[0][0]


def test_the_services_own_surfaces_may_read(brand, surfaces):
    assert _allowed(brand, "https://app.brand.test") == "https://app.brand.test"
    assert _allowed(brand, "http://127.0.0.1:8000") == "http://127.0.0.1:8000"


def test_a_branded_subdomain_may_read(brand, surfaces):
    origin = f"https://{_subdomain(brand)}.partners.test"

    assert _allowed(brand, origin) == origin


def test_a_verified_custom_domain_may_read_and_an_unverified_one_may_not(brand, surfaces):
    verified, waiting = f"{brand.id.hex}.test", f"w{brand.id.hex}.test"
    brand.program(custom_domain=verified, custom_domain_verified=True)
    brand.program(custom_domain=waiting)

    assert _allowed(brand, f"https://{verified}") == f"https://{verified}"
    assert _allowed(brand, f"https://{waiting}") is None


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
def test_what_only_resembles_a_surface_is_kept_out(brand, surfaces, origin):
    assert _allowed(brand, origin.format(subdomain=_subdomain(brand))) is None


def test_a_browser_that_asks_first_is_told_methods_and_headers(app, surfaces):
    answer = app.test_client().options("/api/v1/programs", headers={"Origin": "https://app.brand.test", **ASKS})

    assert answer.status_code == 204
    assert "PATCH" in answer.headers["Access-Control-Allow-Methods"]
    assert "Idempotency-Key" in answer.headers["Access-Control-Allow-Headers"]
    assert answer.headers["Access-Control-Allow-Origin"] == "https://app.brand.test"


def test_caches_are_told_that_the_answer_depends_on_the_page(brand, surfaces):
    assert "Origin" in brand.get("/api/v1/programs", Origin="https://evil.test").headers["Vary"]


@pytest.mark.parametrize("path", ["/api/openapi.json", "/api/v1/settings/attribution-params/defaults", "/api/v1/none"])
def test_caches_are_told_so_too_when_no_page_asked(app, path):
    answer = app.test_client().get(path)

    assert "Origin" in answer.headers["Vary"]
    assert "Access-Control-Allow-Origin" not in answer.headers


def test_a_refusal_can_be_read_by_our_own_pages_too(brand, surfaces):
    answer = brand.get("/api/v1/programs/none", Origin="https://app.brand.test")

    assert answer.status_code == 404
    assert answer.headers["Access-Control-Allow-Origin"] == "https://app.brand.test"


def test_a_database_that_is_away_keeps_strangers_out_and_changes_no_answer(app, surfaces, monkeypatch):
    def away(*_, **__):
        raise db.UNAVAILABLE[0]("away")

    monkeypatch.setattr("api.edge.cors.db.any_org_work", away)

    answer = app.test_client().get("/healthz", headers={"Origin": "https://evil.partners.test"})

    assert answer.status_code == 200
    assert "Access-Control-Allow-Origin" not in answer.headers
