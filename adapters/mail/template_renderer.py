"""Renders the HTML of emails from templates; values are escaped.

Values that a template marks `safe` were cleaned by `html.clean`. A missing value is an error.
"""

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

_TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).with_name("templates")),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    auto_reload=False,
)


def render(template: str, **values: str) -> str:
    """Return an email as a complete HTML document."""
    return _TEMPLATES.get_template(template).render(values)
