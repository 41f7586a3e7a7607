"""The style of landing pages in a brand's colour, which is in the address: so it reveals nothing about the brand, costs
no statement, and may be cached forever.
"""

import re

from flask import Blueprint, Response

from api.access.guards import Guard
from api.edge.operations import operation, text
from domain.refusals import Refused
from pages import static_files

blueprint = Blueprint("landing_theme", __name__)

_OPEN = Guard(audience="public", bucket=None)
_SHEETS = ("app.css", "landing.css")
_COLOR = re.compile(r"\A[0-9a-f]{6}\Z")
_DEFAULT = "plain"
_CSS = "text/css; charset=utf-8"
_FOREVER = {"Cache-Control": "public, max-age=31536000, immutable", "X-Content-Type-Options": "nosniff"}


def url(color: str | None) -> str:
    """Return the address of the style in this colour (`#rrggbb`), of this release."""
    return f"/landing/{static_files.version_of(*_SHEETS)}/{color.removeprefix('#') if color else _DEFAULT}.css"


@blueprint.get("/landing/<version>/<color>.css")
@operation(_OPEN, text("text/css"), is_described=False)
def show_landing_theme(version: str, color: str) -> Response:
    """Show the style in a colour, accents as far as they can be read. Budget: no round trip."""
    if version != static_files.version_of(*_SHEETS) or (color != _DEFAULT and not _COLOR.fullmatch(color)):
        raise Refused(404, "not_found", "There is no such page.")
    sheet = static_files.themed_stylesheet(None if color == _DEFAULT else f"#{color}", *_SHEETS)
    return Response(sheet, content_type=_CSS, headers=_FOREVER)
