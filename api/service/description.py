"""The description of the interface for programs: OpenAPI at /api/openapi.json, a manifest at /llms/api.txt.

Both are built from the operations that the routes declare, once per process. `pages.docs` shows the same to people.
Source: core spec, section 9 (the manifest).
"""

import functools
import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson
from flask import Blueprint, Flask, Response, current_app, render_template
from werkzeug.routing import Rule

import settings
from api.access.guards import Guard
from api.description import error_codes, guide, openapi, page, stored_documents
from api.description.stored_documents import StoredDocument
from api.edge import resources
from api.edge.operations import operation, text

blueprint = Blueprint("description", __name__, template_folder="../templates")

_OPEN = Guard(audience="public", bucket="anonymous", open_cors=True)


@dataclass(frozen=True, slots=True)
class Description:
    """The description: the document, and the contents of the pages and the manifest."""

    document: Mapping[str, Any]
    sections: list[page.Section]
    codes: list[error_codes.Code]
    chapters: Mapping[str, str]


@blueprint.get("/api/openapi.json")
@operation(_OPEN, text("application/json"), samples={"application/json": {"openapi": "3.1.0"}})
def get_openapi() -> Response:
    """The description as OpenAPI 3.1."""
    return _store_openapi(application()).respond()


@blueprint.get("/llms/api.txt")
@operation(_OPEN, text("text/plain"), samples={"text/plain": "# Finderfee\n"})
def get_manifest() -> Response:
    """The description as plain text: chapters, one paragraph per operation, error codes."""
    return _store_manifest(application()).respond()


def document() -> Mapping[str, Any]:
    """Return the OpenAPI document of the running application."""
    return describe(application()).document


@functools.cache
def describe(app: Flask) -> Description:
    """Return the description of an application, built once."""
    all_routes = (_route(app, rule) for rule in app.url_map.iter_rules())
    routes = sorted((route for route in all_routes if route.operation.is_described), key=_reading_order)
    config = settings.current()
    built = openapi.build_document(routes, openapi.ServicePlace(config.web.url, config.web.limits_per_min))
    sections = page.list_sections(built)
    codes = error_codes.list_codes([entry for section in sections for entry in section.entries])
    return Description(built, sections, codes, guide.render_chapters(routes))


def application() -> Flask:
    """Return the application itself; the proxy could not be the key of a cache."""
    app: Flask = current_app._get_current_object()  # type: ignore[attr-defined]  # Flask's documented way
    return app


@functools.cache
def _store_openapi(app: Flask) -> StoredDocument:
    return stored_documents.store(orjson.dumps(describe(app).document), "application/json")


@functools.cache
def _store_manifest(app: Flask) -> StoredDocument:
    description = describe(app)
    manifest = render_template(
        "api.txt",
        about=description.document["info"],
        base_url=description.document["servers"][0]["url"],
        sections=description.sections,
        events=page.list_events(description.document),
        codes=description.codes,
        chapters=description.chapters,
    )
    return stored_documents.store(manifest, "text/plain")


def _reading_order(route: openapi.Route) -> tuple[int, str]:
    blueprints = [name for resource in resources.ALL for name in resource.blueprints]
    is_listed = route.blueprint in blueprints
    return blueprints.index(route.blueprint) if is_listed else len(blueprints), route.rule


def _route(app: Flask, rule: Rule) -> openapi.Route:
    view: Any = app.view_functions[rule.endpoint]
    return openapi.Route(
        rule=rule.rule,
        methods=tuple(sorted((rule.methods or set()) - {"HEAD", "OPTIONS"})),
        name=view.__name__,
        doc=inspect.getdoc(view) or "",
        blueprint=rule.endpoint.partition(".")[0],
        operation=view.operation,
    )
