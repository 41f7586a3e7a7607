"""Responses from templates, compiled once and escaped, and QR codes, with the headers of every page.

An undefined name in a template is an error, not an empty text. A page loads and runs only what it `allows`.
"""

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import segno
from flask import Response
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from api.edge.operations import text
from pages import template_filters

#: The response type of a page's operation.
HTML = text("text/html")

#: All templates of the pages; their texts go through gettext.
TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).with_name("templates")),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    auto_reload=False,
)
TEMPLATES.add_extension("jinja2.ext.i18n")
TEMPLATES.install_null_translations(newstyle=True)  # type: ignore[attr-defined]  # the extension brings it
TEMPLATES.filters.update(template_filters.FILTERS)
_POLICY = {
    "default-src": "'none'",
    "style-src": "'unsafe-inline'",
    "form-action": "'self'",
    "base-uri": "'none'",
    "frame-ancestors": "'none'",
}
_NOTHING: Mapping[str, str] = {}
_QR_SCALE = 8


def render_page(template: str, *, status: int = 200, allows: Mapping[str, str] = _NOTHING, **values: Any) -> Response:
    """Return a response with a template filled with `values`; `allows` is as in `page_headers`."""
    return html_response(render_html(template, **values), status=status, allows=allows)


def render_html(template: str, **values: Any) -> str:
    """Return a template filled with `values`."""
    return TEMPLATES.get_template(template).render(values)


def html_response(html: str | bytes, *, status: int = 200, allows: Mapping[str, str] = _NOTHING) -> Response:
    """Return a response with this HTML; `allows` is as in `page_headers`."""
    return Response(html, status=status, content_type="text/html; charset=utf-8", headers=page_headers(allows))


def render_qr_code(text: str) -> Response:
    """Return an SVG of a QR code that a camera reads, black on white, for the signed-in person alone."""
    image = io.BytesIO()
    segno.make(text, error="m", micro=False).save(
        image, kind="svg", scale=_QR_SCALE, light="#fff", svgclass=None, lineclass=None
    )
    answer = Response(image.getvalue(), content_type="image/svg+xml", headers=page_headers())
    answer.vary.add("Cookie")
    return answer


def render_notice(heading: str, text: str, *, title: str | None = None, status: int = 200) -> Response:
    """Return a page of one sentence below a heading, which is also its title unless `title` is given."""
    return render_page("notice.html", status=status, title=title or heading, heading=heading, said=text)


def page_headers(allows: Mapping[str, str] = _NOTHING) -> dict[str, str]:
    """Return the headers of a page: not stored, not indexed, no referrer to the pages that it links to.

    `allows` are additional directives of the content policy with their sources.
    """
    policy = {**_POLICY, **allows}
    return {
        "Content-Security-Policy": "; ".join(f"{name} {sources}" for name, sources in policy.items()),
        "Cache-Control": "no-store",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
        "X-Robots-Tag": "noindex",
    }
