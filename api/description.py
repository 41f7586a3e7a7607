"""The interface describes itself: OpenAPI at /api/openapi.json, a page at /docs, a manifest at /llms/api.txt.

All three are made from the operations that the routes declare; nothing is written down twice.
Source: core spec, section 9 (the manifest).
"""

import functools
import inspect
from typing import Any

import orjson
from flask import Blueprint, Flask, Response, current_app, render_template
from werkzeug.routing import Rule

from api.edge import openapi
from api.edge.guards import Guard
from api.edge.operations import operation, text

blueprint = Blueprint("description", __name__, template_folder="templates")

_OPEN = Guard(audience="public", bucket="anonymous", open_cors=True)
_CACHE = "public, max-age=300"
_PAGE_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


@blueprint.get("/api/openapi.json")
@operation(_OPEN, text("application/json"))
def get_openapi() -> Response:
    """The description as OpenAPI 3.1."""
    return _cached(orjson.dumps(document()), "application/json")


@blueprint.get("/docs")
@operation(_OPEN, text("text/html"))
def read_docs() -> Response:
    """The description as a page for people."""
    answer = _cached(render_template("docs.html", sections=sections(), about=document()["info"]), "text/html")
    answer.headers["Content-Security-Policy"] = _PAGE_POLICY
    return answer


@blueprint.get("/llms/api.txt")
@operation(_OPEN, text("text/plain"))
def get_manifest() -> Response:
    """The description as plain text: one paragraph per operation."""
    return _cached(render_template("api.txt", sections=sections(), about=document()["info"]), "text/plain")


def document() -> dict[str, Any]:
    """Return the OpenAPI document of the running application."""
    return _document(_application())


def sections() -> dict[str, list[dict[str, Any]]]:
    """Return the operations of the document by their tag, each with `method` and `path`, in reading order."""
    found: dict[str, list[dict[str, Any]]] = {}
    for path, methods in document()["paths"].items():
        for method, described in methods.items():
            found.setdefault(described["tags"][0], []).append(described | {"method": method.upper(), "path": path})
    return found


@functools.cache
def _document(app: Flask) -> dict[str, Any]:
    routes = [_route(app, rule) for rule in app.url_map.iter_rules()]
    reading_order = list(app.blueprints)
    return openapi.document(sorted(routes, key=lambda route: (reading_order.index(route.tag), route.rule)))


def _route(app: Flask, rule: Rule) -> openapi.Route:
    view: Any = app.view_functions[rule.endpoint]
    return openapi.Route(
        rule=rule.rule,
        methods=tuple(sorted((rule.methods or set()) - {"HEAD", "OPTIONS"})),
        name=view.__name__,
        doc=inspect.getdoc(view) or "",
        tag=rule.endpoint.partition(".")[0],
        operation=view.operation,
    )


def _application() -> Flask:
    found: Flask = current_app._get_current_object()  # type: ignore[attr-defined]  # the proxy itself cannot be a key
    return found


def _cached(body: str | bytes, media_type: str) -> Response:
    answer = Response(body, content_type=f"{media_type}; charset=utf-8")
    answer.headers["Cache-Control"] = _CACHE
    return answer
