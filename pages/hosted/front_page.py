"""What the bare address says: that the service runs, and where to go from there. It asks nothing of the database.

On a brand's own host it is the page of the brand's campaign. Elsewhere a person gets a page, a program that asks for
JSON the same addresses as an object; nobody gets a 404 for looking.
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
_PLACES = {
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
    """Say that the service runs, and where its documentation and its health are; or show the campaign of this host.

    Budget: no statement at the service's own host, 2 at a brand's.
    """
    found = campaign.page_of_host()
    if found is not None:
        return found
    base_url = settings.current().web.url
    if request.accept_mimetypes.best_match(["text/html", "application/json"]) == "application/json":
        shown = {"service": "finderfee", **{name: f"{base_url}{path}" for name, (path, _) in _PLACES.items()}}
        answer = Response(orjson.dumps(shown), content_type="application/json", headers=documents.page_headers())
    else:
        answer = documents.render_page("hosted/front_page.html", base_url=base_url, places=_PLACES.values())
    answer.vary.add("Accept")
    return answer
