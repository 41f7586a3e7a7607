"""What the bare address says: that the service runs, and where to go from there. Knows no tenant and asks nothing.

A person gets a page, a program that asks for JSON the same addresses as an object; nobody gets a 404 for looking.
"""

from html import escape

import orjson
from flask import Blueprint, Response, request

import settings
from api.access.guards import Guard
from api.edge.operations import operation, text

blueprint = Blueprint("front_page", __name__)

_OPEN = Guard(audience="public", bucket=None)
_PLACES = {
    "docs": ("/docs", "every route with its fields, roles and refusals"),
    "openapi": ("/api/openapi.json", "the same for machines"),
    "health": ("/healthz", "whether this process is up"),
    "ready": ("/readyz", "whether it can do its work"),
}
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "Vary": "Accept",
    "X-Robots-Tag": "noindex",
}
_STYLE = (
    "body{font:1.1rem/1.5 system-ui,sans-serif;max-width:40rem;margin:3rem auto;padding:0 1rem}"
    "pre{overflow-x:auto;padding:.5rem 1rem;background:#8882}"
)


@blueprint.get("/")
@operation(_OPEN, text("text/html"), gives_as=("application/json",))
def show_front_page() -> Response:
    """Say that the service runs, and where its documentation and its health are."""
    base_url = settings.current().web.url
    if request.accept_mimetypes.best_match(["text/html", "application/json"]) == "application/json":
        shown = {"service": "finderfee", **{name: f"{base_url}{path}" for name, (path, _) in _PLACES.items()}}
        return Response(orjson.dumps(shown), content_type="application/json", headers=_HEADERS)
    return Response(_page(base_url), content_type="text/html; charset=utf-8", headers=_HEADERS)


def _page(base_url: str) -> str:
    places = "\n".join(f'<li><a href="{path}">{path}</a>: {what}</li>' for path, what in _PLACES.values())
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Finderfee</title><style>{_STYLE}</style></head>
<body><main>
<h1>Finderfee runs</h1>
<p>This is the API of an affiliate-program service. There is nothing to sign in to here; programs call it at
<code>{escape(base_url)}</code>.</p>
<ul>
{places}
</ul>
<h2>Next</h2>
<p>On its machine, in its folder: <code>.venv/bin/flask demo</code> shows the demo, if there is one, with commands to
paste. A brand of your own, its key, and a campaign:</p>
<pre>.venv/bin/flask org create --name Acme
.venv/bin/flask key create --org ORG
curl {escape(base_url)}/api/v1/programs -H 'Authorization: Bearer KEY' \\
  -H 'Content-Type: application/json' -d '{{"name":"Spring","slug":"spring","defaultCommissionType":"Percentage",
  "defaultCommissionValue":20}}'</pre>
</main></body></html>
"""
