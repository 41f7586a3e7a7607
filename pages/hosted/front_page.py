"""The page at /: it says that the service runs, and links to its documentation and health. It needs no database.

On a brand's own host it is the page of the brand's campaign. Elsewhere a browser gets a page, and a client that accepts
JSON the same addresses as an object.
"""

import orjson
from flask import Blueprint, Response, request

import settings
from api.access.guards import Guard
from api.edge.operations import operation
from pages import documents
from pages.hosted.landing import campaign

blueprint = Blueprint("front_page", __name__)

_OPEN = Guard(audience="public", bucket=None)
_LINKS = {
    "docs": ("/docs", "every route with its fields, roles and refusals"),
    "openapi": ("/api/openapi.json", "the same for machines"),
    "health": ("/healthz", "whether this process is up"),
    "ready": ("/readyz", "whether it can do its work"),
}


@blueprint.get("/")
@operation(
    _OPEN,
    documents.HTML,
    gives_as=("application/json",),
    samples={"application/json": {"service": "finderfee"}},
    refuses=("404", "429"),
)
def show_front_page() -> Response:
    """Show that the service runs, with links to its documentation and health; on a brand's host show its campaign.

    Budget: no statement at the service's own host, 2 at a brand's.
    """
    landing_page = campaign.render_host_page()
    if landing_page is not None:
        return landing_page
    base_url = settings.current().web.url
    if request.accept_mimetypes.best_match(["text/html", "application/json"]) == "application/json":
        links = {"service": "finderfee", **{name: f"{base_url}{path}" for name, (path, _) in _LINKS.items()}}
        answer = Response(orjson.dumps(links), content_type="application/json", headers=documents.page_headers())
    else:
        answer = documents.render_page("hosted/front_page.html", base_url=base_url, places=_LINKS.values())
    answer.vary.add("Accept")
    return answer
