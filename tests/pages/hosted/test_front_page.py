"""The root address, through HTTP: an HTML page for browsers, a JSON object for other clients."""

import re


def test_browser_gets_a_page_with_links(app):
    client = app.test_client()

    answer = client.get("/", headers={"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"})

    assert (answer.status_code, answer.content_type) == (200, "text/html; charset=utf-8")
    assert "<h1>Finderfee runs</h1>" in answer.text
    linked = re.findall(r'href="([^"]+)"', answer.text)
    assert linked == ["/docs", "/api/openapi.json", "/healthz", "/readyz"]
    assert [client.get(path).status_code for path in linked] == [200, 200, 200, 200]
    assert "flask org create" in answer.text
    assert answer.headers["Content-Security-Policy"].startswith("default-src 'none'")


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
