"""Style, icons and scripts: files of ours alone, read once, served under an address that changes with what is in them.

So a browser may keep each of them for a year, and what a page needs is always of the page's own release.
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
# What accents stand on in app.css, light and dark.
_LIGHT, _DARK = ("#f5f7f4", "#ffffff", "#ebefeb"), ("#0f1411", "#171e1a", "#0b0f0d")
_FILES = MappingProxyType(
    {
        file.name: file.read_bytes()
        for file in resources.files("pages").joinpath("static").iterdir()
        if file.name.rpartition(".")[2] in _TYPES
    }
)
_VERSIONS = MappingProxyType(
    {name: hashlib.sha256(content).hexdigest()[:_HASH_DIGITS] for name, content in _FILES.items()}
)


def url(name: str) -> str:
    """Return where a file is served. Raises KeyError for one that is not there."""
    return f"/static/{_VERSIONS[name]}/{name}"


def content(name: str) -> bytes:
    """Return what is in a file. Raises KeyError for one that is not there."""
    return _FILES[name]


def version(*names: str) -> str:
    """Return what changes with any of these files. Raises KeyError for one that is not there."""
    return "".join(_VERSIONS[name] for name in names)


def colored(color: str | None, *names: str) -> str:
    """Return sheets as one, with accents in a brand's colour (`#rrggbb`), as far as it can be read where they stand.

    Without a colour they have their own. Raises KeyError for a sheet that is not there.
    """
    sheet = "".join(_FILES[name].decode() for name in names)
    if color is None:
        return sheet
    light, dark = colors.make_readable(color, on=_LIGHT), colors.make_readable(color, on=_DARK)
    shown = f"--accent: light-dark({light}, {dark})"
    above = f"--on-accent: light-dark({colors.text_on(light)}, {colors.text_on(dark)})"
    return f"{sheet}@layer tokens {{ :root {{ {shown}; {above} }} }}\n"


@blueprint.get("/static/<version>/<name>")
@operation(_OPEN, text("text/css"), is_described=False)
def get_static_file(version: str, name: str) -> Response:
    """Show a file of this release."""
    if _VERSIONS.get(name) != version:
        raise Refused(404, "not_found", "There is no such address.")
    kind = _TYPES[name.rpartition(".")[2]]
    return Response(_FILES[name], content_type=f"{kind}; charset=utf-8", headers=_FOREVER)
