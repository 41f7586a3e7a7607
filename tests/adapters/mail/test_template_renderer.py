"""Letters out of templates: whole documents, in which what they are told is text."""

import re
from pathlib import Path

import pytest
from jinja2 import UndefinedError

from adapters.mail import template_renderer

_TEMPLATES = sorted((Path(template_renderer.__file__).parent / "templates").glob("*.html"))
_TOLD = {"brand": "<b>", "campaign": "\"'&", "commission": "20 %", "url": "https://a.test/?a=1&b=2", "ending": "</p>"}


def test_a_letter_shows_what_it_is_told_as_text():
    written = template_renderer.render("invite.html", **_TOLD, note="<p>Hi</p>")

    assert written.startswith(
        '<!doctype html>\n<html><head><meta charset="utf-8"></head><body>\n<p><strong>&lt;b&gt;</'
    )
    assert "<strong>&#34;&#39;&amp;</strong>. You would earn 20 %.</p>\n<div><p>Hi</p></div>" in written
    assert '<a href="https://a.test/?a=1&amp;b=2">' in written
    assert written.endswith("<p>&lt;/p&gt;</p>\n</body></html>")


def test_a_letter_says_nothing_where_it_was_told_nothing():
    with pytest.raises(UndefinedError):
        template_renderer.render("invite.html", **_TOLD)


def test_only_what_a_brand_wrote_is_taken_as_html():
    marked = {path.name: re.findall(r"{{ (\w+)\|safe }}", path.read_text()) for path in _TEMPLATES}

    assert marked == {"imported.html": ["said"], "invite.html": ["note"], "letter.html": []}
