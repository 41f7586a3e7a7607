"""The description of the interface: OpenAPI at /api/openapi.json, pages at /docs, a manifest at /llms/api.txt.

All are built from the operations that the routes declare.
Source: core spec, section 9 (the manifest).
"""

import base64
import functools
import hashlib
import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources as files
from typing import Any

import orjson
from flask import Blueprint, Flask, Response, current_app, render_template, request
from markupsafe import Markup
from werkzeug.routing import Rule

import settings
from api.access.guards import Guard
from api.description import demo_values, error_codes, guide, openapi, page
from api.edge import resources
from api.edge.operations import operation, text

blueprint = Blueprint("description", __name__, template_folder="../templates")

_OPEN = Guard(audience="public", bucket="anonymous", open_cors=True)
# The page may contain secrets of its reader: scripts of other sites must not read it.
_PAGE = Guard(audience="public", bucket="anonymous")
_CACHE = "public, max-age=300"
_SCRIPT = files.files("api").joinpath("templates/docs.js").read_text("utf-8")
_PAGE_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; "
    f"script-src 'sha256-{base64.b64encode(hashlib.sha256(_SCRIPT.encode()).digest()).decode()}'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
# The demo's value for each placeholder of a command.
_DEMO_PLACEHOLDERS = {
    "$KEY": "apiKey",
    "$PROGRAM_ID": "programId",
    "$AFFILIATE_ID": "recruiterId",
    "$ENDPOINT_ID": "webhookEndpointId",
    "c4e2a9d0-1f37-45b8-b6c1-8d7e6f5a4b33": "programId",
    "7b1f6a3c-52d4-4e8f-8a60-2c9d4e5b6f22": "recruiterId",
    "robin-vale": "affiliateSlug",
}


@dataclass(frozen=True, slots=True)
class _Description:
    """The description, built once: the document, its bytes, and the contents of the page and the manifest."""

    document: Mapping[str, Any]
    as_json: bytes
    sections: list[page.Section]
    codes: list[error_codes.Code]
    chapters: Mapping[str, str]


@blueprint.get("/api/openapi.json")
@operation(_OPEN, text("application/json"), samples={"application/json": {"openapi": "3.1.0"}})
def get_openapi() -> Response:
    """The description as OpenAPI 3.1."""
    return _cacheable_response(_build_description(_application()).as_json, "application/json")


@blueprint.get("/docs")
@operation(_PAGE, text("text/html"))
def read_docs() -> Response:
    """The description as a page for people."""
    demo = demo_values.read_demo_values(request)
    answer = _page_response(_render_reference(_application(), tuple((demo or {}).items())))
    if demo:
        answer.headers["Cache-Control"] = "no-store"
    return answer


@blueprint.get("/docs/errors")
@operation(_PAGE, text("text/html"))
def read_error_codes() -> Response:
    """Every error code with its status and its meaning."""
    return _page_response(_render_errors(_application()))


@blueprint.get("/llms/api.txt")
@operation(_OPEN, text("text/plain"), samples={"text/plain": "# Finderfee\n"})
def get_manifest() -> Response:
    """The description as plain text: chapters, one paragraph per operation, error codes."""
    return _cacheable_response(_render_manifest(_application()), "text/plain")


def document() -> Mapping[str, Any]:
    """Return the OpenAPI document of the running application."""
    return _build_description(_application()).document


@functools.lru_cache(maxsize=4)
def _render_reference(app: Flask, demo: tuple[tuple[str, str], ...]) -> str:
    return _render("docs.html", _build_description(app), dict(demo))


@functools.cache
def _render_errors(app: Flask) -> str:
    return _render("errors.html", _build_description(app))


@functools.cache
def _render_manifest(app: Flask) -> str:
    return _render("api.txt", _build_description(app))


def _render(template: str, description: _Description, demo: Mapping[str, str] | None = None) -> str:
    return render_template(
        template,
        about=description.document["info"],
        base_url=description.document["servers"][0]["url"],
        sections=description.sections,
        events=page.list_events(description.document),
        codes=description.codes,
        chapters=description.chapters,
        html=guide.render_html,
        inline=guide.render_inline,
        pretty=_indented_json,
        demo=demo,
        command=functools.partial(_fill_demo_values, demo=demo or {}),
        script=Markup(_SCRIPT),  # noqa: S704  # our own script
    )


@functools.cache
def _build_description(app: Flask) -> _Description:
    all_routes = (_route(app, rule) for rule in app.url_map.iter_rules())
    routes = sorted((route for route in all_routes if route.operation.is_described), key=_reading_order)
    config = settings.current()
    document = openapi.build_document(routes, openapi.ServicePlace(config.web.url, config.web.limits_per_min))
    sections = page.list_sections(document)
    codes = error_codes.list_codes([entry for section in sections for entry in section.entries])
    return _Description(document, orjson.dumps(document), sections, codes, guide.render_chapters(routes))


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


def _application() -> Flask:
    app: Flask = current_app._get_current_object()  # type: ignore[attr-defined]  # the proxy itself cannot be a key
    return app


def _fill_demo_values(command: str, demo: Mapping[str, str]) -> str:
    for placeholder, name in _DEMO_PLACEHOLDERS.items():
        command = command.replace(placeholder, demo.get(name, placeholder))
    return command


def _indented_json(example: Any) -> str:
    return orjson.dumps(example, option=orjson.OPT_INDENT_2).decode()


def _page_response(body: str) -> Response:
    answer = _cacheable_response(body, "text/html")
    answer.headers["Content-Security-Policy"] = _PAGE_POLICY
    return answer


def _cacheable_response(body: str | bytes, media_type: str) -> Response:
    answer = Response(body, content_type=f"{media_type}; charset=utf-8")
    answer.headers["Cache-Control"] = _CACHE
    return answer
