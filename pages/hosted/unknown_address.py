"""The page of an address that the service does not have, for a person who mistyped one.

Programs get the API's answer: below /api/, and wherever they do not prefer HTML.
"""

from flask import Blueprint, Response, request
from werkzeug.exceptions import NotFound

from api.edge import errors
from pages import documents

blueprint = Blueprint("unknown_address", __name__)

_API = "/api/"


@blueprint.app_errorhandler(NotFound)
def show_unknown_address(error: NotFound) -> Response:
    """Show that there is no such page, or answer as the API does."""
    prefers_html = request.accept_mimetypes.best_match(["application/json", "text/html"]) == "text/html"
    if request.path.startswith(_API) or not prefers_html:
        return errors.http_error_response(error)
    page = documents.render_notice("Page not found", "The address may be mistyped, or the page was moved.", status=404)
    page.vary.add("Accept")
    return page
