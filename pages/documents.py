"""A template as an answer: compiled once, escaped, and with the headers that every page has.

A name that the template does not get is an error, not an empty place. A page loads and runs nothing but what it
`allows`.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flask import Response
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from api.edge.operations import text
from pages import show

#: What the operation of a page gives.
HTML = text("text/html")

#: All templates of the pages; the words in them go through gettext.
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
TEMPLATES.filters.update(show.FILTERS)
_POLICY = {
    "default-src": "'none'",
    "style-src": "'unsafe-inline'",
    "form-action": "'self'",
    "base-uri": "'none'",
    "frame-ancestors": "'none'",
}
_NOTHING: Mapping[str, str] = {}


def page(template: str, *, status: int = 200, allows: Mapping[str, str] = _NOTHING, **shown: Any) -> Response:
    """Return a template filled with what is `shown`; `allows` is as in `headers`."""
    return answer(filled(template, **shown), status=status, allows=allows)


def filled(template: str, **shown: Any) -> str:
    """Return what a template comes to."""
    return TEMPLATES.get_template(template).render(shown)


def answer(said: str | bytes, *, status: int = 200, allows: Mapping[str, str] = _NOTHING) -> Response:
    """Return a page that is written already; `allows` is as in `headers`."""
    return Response(said, status=status, content_type="text/html; charset=utf-8", headers=headers(allows))


def notice(heading: str, said: str, *, title: str | None = None, status: int = 200) -> Response:
    """Return a page of one sentence below a heading, which is its title as well unless another one is given."""
    return page("notice.html", status=status, title=title or heading, heading=heading, said=said)


def headers(allows: Mapping[str, str] = _NOTHING) -> dict[str, str]:
    """Return the headers of a page: not stored, not indexed, not named to the pages that it leads to.

    `allows` are directives of the content policy with their sources, for what this page does beyond being read.
    """
    policy = {**_POLICY, **allows}
    return {
        "Content-Security-Policy": "; ".join(f"{name} {sources}" for name, sources in policy.items()),
        "Cache-Control": "no-store",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
        "X-Robots-Tag": "noindex",
    }
