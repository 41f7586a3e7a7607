"""The style of the portal in a brand's colour, adjusted until it is readable on its background.

It is the whole style, so that a page loads one sheet.
"""

from flask import Blueprint, Response

from pages import api_client, static_files
from pages.portal import frame
from pages.screens import screen

blueprint = Blueprint("portal_theme", __name__)

_CSS = "text/css; charset=utf-8"
# The address changes with the colour and with the release.
_HEADERS = {"Cache-Control": "private, max-age=86400", "X-Content-Type-Options": "nosniff"}


@blueprint.get("/portal/theme/<organization_id>.css")
@screen("account", uses=frame.USES)
def show_theme(organization_id: str) -> Response:
    """Show the colour of a brand that the affiliate works for. Budget: 2 round trips."""
    brands = api_client.require(*frame.USES)["brands"]
    chosen = {brand["organizationId"]: brand["primaryBrandColor"] for brand in brands}
    if organization_id not in chosen:
        return Response(status=404, content_type=_CSS, headers=_HEADERS)
    sheet = static_files.themed_stylesheet(chosen[organization_id], "app.css")
    return Response(sheet, content_type=_CSS, headers=_HEADERS)
