"""Style, icons and scripts: own files only, read once, served under an address that contains a hash of the content.

So browsers may cache each of them for a year, and a page always loads the files of its own release.
"""

import hashlib
from importlib import resources
from types import MappingProxyType

from flask import Blueprint, Response

from api.access.guards import Guard
from api.edge.operations import operation, text
from domain.organization import colors
from domain.refusals import Refused

blueprint = Blueprint("statics", __name__)

_OPEN = Guard(audience="public", bucket=None)
_TYPES = {"css": "text/css", "svg": "image/svg+xml", "js": "text/javascript"}
_FOREVER = {"Cache-Control": "public, max-age=31536000, immutable", "X-Content-Type-Options": "nosniff"}
_HASH_DIGITS = 12
# Backgrounds behind accents in app.css, light and dark.
_LIGHT, _DARK = ("#f5f7f4", "#ffffff", "#ebefeb"), ("#0f1411", "#171e1a", "#0b0f0d")
_SOURCES = {
    file.name: file.read_bytes()
    for file in resources.files("pages").joinpath("static").iterdir()
    if file.name.rpartition(".")[2] in _TYPES
}
# Scripts that pages load together are one file, which is one request.
_BUNDLES = {"live.js": ("htmx-4.0.1.min.js", "app.js")}
_FILES = MappingProxyType(
    _SOURCES | {name: b"\n".join(_SOURCES[part] for part in parts) for name, parts in _BUNDLES.items()}
)
_VERSIONS = MappingProxyType(
    {name: hashlib.sha256(content).hexdigest()[:_HASH_DIGITS] for name, content in _FILES.items()}
)


def url(name: str) -> str:
    """Return the address of a file. Raises KeyError for an unknown one."""
    return f"/static/{_VERSIONS[name]}/{name}"


def read_file(name: str) -> bytes:
    """Return the content of a file. Raises KeyError for an unknown one."""
    return _FILES[name]


def version_of(*names: str) -> str:
    """Return the common version of these files. Raises KeyError for an unknown one."""
    return "".join(_VERSIONS[name] for name in names)


def themed_stylesheet(color: str | None, *names: str) -> str:
    """Return these style sheets as one, with accents in a brand's colour (`#rrggbb`), adjusted until it is readable.

    Without a colour they keep their own. Raises KeyError for an unknown sheet.
    """
    sheet = "".join(_FILES[name].decode() for name in names)
    if color is None:
        return sheet
    light, dark = readable_accents(color)
    accent = f"--accent: light-dark({light}, {dark})"
    text = f"--on-accent: light-dark({colors.text_on(light)}, {colors.text_on(dark)})"
    return f"{sheet}@layer tokens {{ :root {{ {accent}; {text} }} }}\n"


def readable_accents(color: str) -> tuple[str, str]:
    """Return a brand's colour (`#rrggbb`) as the accent of the light and of the dark theme, adjusted until readable."""
    return colors.make_readable(color, on=_LIGHT), colors.make_readable(color, on=_DARK)


@blueprint.get("/static/<version>/<name>")
@operation(_OPEN, text("text/css"), is_described=False)
def get_static_file(version: str, name: str) -> Response:
    """Show a file of this release."""
    if _VERSIONS.get(name) != version:
        raise Refused(404, "not_found", "There is no such page.")
    kind = _TYPES[name.rpartition(".")[2]]
    return Response(_FILES[name], content_type=f"{kind}; charset=utf-8", headers=_FOREVER)
