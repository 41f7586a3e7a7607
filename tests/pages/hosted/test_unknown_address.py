"""An unknown address is a page for people, and the API's answer for programs."""

import pytest

_HTML = "text/html,application/xhtml+xml,*/*;q=0.8"


def test_browser_sees_a_page(app):
    answer = app.test_client().get("/dashbord", headers={"Accept": _HTML})

    assert (answer.status_code, answer.mimetype) == (404, "text/html")
    assert "<h1>Page not found</h1>" in answer.text
    assert "Accept" in answer.headers["Vary"]
    assert answer.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize(
    ("path", "accept"),
    [("/dashbord", None), ("/dashbord", "*/*"), ("/dashbord", "application/json"), ("/api/x", _HTML)],
)
def test_program_gets_the_envelope(app, path, accept):
    answer = app.test_client().get(path, headers={"Accept": accept} if accept else {})

    assert (answer.status_code, answer.mimetype) == (404, "application/json")
    assert answer.json["error"] == "not_found"
