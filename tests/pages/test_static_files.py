"""Files of the pages: cached forever under an address of their own content."""

import pytest

from pages import static_files


@pytest.mark.parametrize(
    ("name", "kind"), [("app.css", "text/css"), ("icons.svg", "image/svg+xml"), ("favicon.svg", "image/svg+xml")]
)
def test_static_file_is_cached_for_a_year(app, name, kind):
    answer = app.test_client().get(static_files.url(name))

    assert (answer.status_code, answer.mimetype) == (200, kind)
    assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"


@pytest.mark.parametrize("path", ["/static/0123456789ab/app.css", "/static/x/none.css", "/static/x/..%2f__init__.py"])
def test_another_releases_file_returns_404(app, path):
    answer = app.test_client().get(path)

    assert answer.status_code == 404
    assert answer.headers["Cache-Control"] == "no-store"
