"""The HTML of our letters: templates, in which what they are told is escaped.

What a letter marks `safe` has been cleaned by `html.clean`. A name that a template does not get is an error.
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


def fill(template: str, **told: str) -> str:
    """Return a letter as a whole HTML document."""
    return _TEMPLATES.get_template(template).render(told)
