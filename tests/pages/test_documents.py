"""Templates as answers: the headers of every page, and content that no template may have."""

import re
from pathlib import Path

import pytest
from jinja2 import UndefinedError

import pages
from pages import documents

_FOLDER = Path(pages.__file__).parent / "templates"
_TEMPLATES = sorted(_FOLDER.rglob("*.html"))


def test_missing_template_value_raises_undefined_error():
    with pytest.raises(UndefinedError):
        documents.render_page("notice.html", title="Gone")


def test_values_of_a_page_are_escaped():
    answer = documents.render_notice("<b>", "\"'&", status=410)

    html = answer.get_data(as_text=True)
    assert answer.status_code == 410
    assert "<title>&lt;b&gt;</title>" in html
    assert "<h1>&lt;b&gt;</h1>\n<p>&#34;&#39;&amp;</p>" in html


def test_page_is_not_cached_and_not_framed():
    headers = documents.render_notice("Here", "it is").headers

    assert {name: value for name, value in headers.items() if name != "Content-Length"} == {
        "Content-Type": "text/html; charset=utf-8",
        "Content-Security-Policy": (
            "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
        ),
        "Cache-Control": "no-store",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
        "X-Robots-Tag": "noindex",
    }


def test_allowed_sources_are_in_the_policy():
    policy = documents.page_headers({"script-src": "https://a.test https://b.test"})["Content-Security-Policy"]

    assert policy.startswith("default-src 'none'; ")
    assert policy.endswith("; script-src https://a.test https://b.test")


@pytest.mark.parametrize("path", _TEMPLATES, ids=lambda path: path.relative_to(_FOLDER).as_posix())
def test_templates_have_no_inline_or_foreign_resources(path):
    source = path.read_text()

    assert not re.search(r"<script(?![^>]*\bsrc=)|\bstyle=|\bon\w+=|javascript:|(src|href)=\"https?:", source)
    assert ("<style>" in source) == (path == _FOLDER / "page.html")
