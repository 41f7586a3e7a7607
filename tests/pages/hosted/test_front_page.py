"""The root address, through HTTP: an HTML page for browsers, a JSON object for other clients."""

import re

import pytest

import settings
from api.storefront.network_presence import presence
from models import db
from tests.support.databases import run_for_all_tenants
from tests.support.outside.console import Console


@pytest.fixture
def service_name(monkeypatch):
    monkeypatch.setenv("SERVICE_NAME", "Acme <Partners>")
    settings.current.cache_clear()
    yield
    settings.current.cache_clear()


def test_browser_gets_the_way_to_sign_in_and_to_the_documentation(app):
    client = app.test_client()

    answer = client.get("/", headers={"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"})

    assert (answer.status_code, answer.content_type) == (200, "text/html; charset=utf-8")
    assert "<h1>Finderfee</h1>" in answer.text
    linked = re.findall(r'<a [^>]*href="(/[^"]+)"', answer.text)
    assert linked == ["/sign-in", "/docs", "/api/openapi.json", "/readyz"]
    assert [client.get(path).status_code for path in linked] == [200, 200, 200, 200]
    assert "flask" not in answer.text.replace("Finderfee", "")
    assert answer.headers["Content-Security-Policy"].startswith("default-src 'none'")


def test_name_of_the_installation_is_a_setting_and_is_escaped(app, service_name):
    assert "<h1>Acme &lt;Partners&gt;</h1>" in app.test_client().get("/").text


def test_network_is_linked_only_while_it_has_programs(app, brand):
    run_for_all_tenants("update program set is_active = false where network_review = 'Approved'")
    before = app.test_client().get("/").text
    brand.set(bankBalanceCents="1")
    program_id = brand.program(network_visibility="Networked")
    assert Console(app).post(f"network/{program_id}/approve", {}).status_code == 200
    cached = app.test_client().get("/").text
    presence.forget()
    after = app.test_client().get("/").text

    assert "/portal/discover" not in before
    assert "/portal/discover" not in cached  # queried once a minute
    assert 'href="/portal/discover"' in after


def test_signed_in_person_gets_the_way_to_their_pages(visitor, links):
    visitor.open(links("owner"))

    page = visitor.open("/").text

    assert 'href="/dashboard"' in page
    assert 'href="/sign-in"' not in page


def test_page_is_shown_while_the_database_is_down(app, monkeypatch):
    def raise_unavailable():
        raise db.UNAVAILABLE[0]

    monkeypatch.setattr(db, "any_org_work", raise_unavailable)

    answer = app.test_client().get("/")

    assert (answer.status_code, "/portal/discover" in answer.text) == (200, False)


def test_accept_any_gets_the_page(app):
    assert app.test_client().get("/", headers={"Accept": "*/*"}).mimetype == "text/html"
    assert app.test_client().get("/").mimetype == "text/html"


def test_json_client_gets_the_links_as_an_object(app):
    answer = app.test_client().get("/", headers={"Accept": "application/json"})

    base_url = "http://127.0.0.1:8000"
    assert answer.json == {
        "service": "finderfee",
        "docs": f"{base_url}/docs",
        "openapi": f"{base_url}/api/openapi.json",
        "health": f"{base_url}/healthz",
        "ready": f"{base_url}/readyz",
    }
    assert "Accept" in answer.headers["Vary"]
    assert app.test_client().post("/").status_code == 405
