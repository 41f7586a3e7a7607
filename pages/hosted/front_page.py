"""The page at /: the name of the installation, the way to sign in, and the network if it has programs.

On a brand's own host it is the page of the brand's campaign. A client that accepts JSON gets the addresses of the
documentation and of the health checks.
"""

import orjson
from flask import Blueprint, Response, request

import settings
from api.access.guards import Guard
from api.edge.operations import operation
from api.storefront.network_presence import presence
from pages import documents, screens
from pages.hosted.landing import campaign

blueprint = Blueprint("front_page", __name__)

_OPEN = Guard(audience="public", bucket=None)
_LINKS = {"docs": "/docs", "openapi": "/api/openapi.json", "health": "/healthz", "ready": "/readyz"}


@blueprint.get("/")
@operation(
    _OPEN,
    documents.HTML,
    gives_as=("application/json",),
    samples={"application/json": {"service": "finderfee"}},
    refuses=("404", "429"),
)
def show_front_page() -> Response:
    """Show the way to sign in and to the documentation; on a brand's host show its campaign.

    Budget: no statement at the service's own host but one a minute (is there a network?), 2 at a brand's.
    """
    landing_page = campaign.render_host_page()
    if landing_page is not None:
        return landing_page
    web = settings.current().web
    if request.accept_mimetypes.best_match(["text/html", "application/json"]) == "application/json":
        links = {"service": "finderfee", **{name: f"{web.url}{path}" for name, path in _LINKS.items()}}
        answer = Response(orjson.dumps(links), content_type="application/json", headers=documents.page_headers())
    else:
        answer = screens.render("front_page.html", service_name=web.name, has_network=presence.has_programs())
    answer.vary.add("Accept")
    return answer
