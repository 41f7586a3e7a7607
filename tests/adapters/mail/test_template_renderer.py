"""Emails rendered from templates are whole documents, with values escaped as text."""

import re
from pathlib import Path

import pytest
from jinja2 import UndefinedError

from adapters.mail import template_renderer

_TEMPLATES = sorted((Path(template_renderer.__file__).parent / "templates").glob("*.html"))
_VALUES = {"brand": "<b>", "campaign": "\"'&", "commission": "20 %", "url": "https://a.test/?a=1&b=2", "ending": "</p>"}


def test_values_are_escaped():
    rendered = template_renderer.render("invite.html", **_VALUES, note="<p>Hi</p>")

    assert rendered.startswith(
        '<!doctype html>\n<html><head><meta charset="utf-8"></head><body>\n<p><strong>&lt;b&gt;</'
    )
    assert "<strong>&#34;&#39;&amp;</strong> and earn 20 %.</p>\n<div><p>Hi</p></div>" in rendered
    assert '<a href="https://a.test/?a=1&amp;b=2">' in rendered
    assert rendered.endswith("<p>&lt;/p&gt;</p>\n</body></html>")


def test_missing_value_raises():
    with pytest.raises(UndefinedError):
        template_renderer.render("invite.html", **_VALUES)


def test_only_text_written_by_a_brand_is_rendered_as_html():
    safe_values = {path.name: re.findall(r"{{ (\w+)\|safe }}", path.read_text()) for path in _TEMPLATES}

    assert safe_values == {
        "imported.html": ["brand_html"],
        "invite.html": ["note"],
        "layout.html": [],
        "notification.html": [],
    }
