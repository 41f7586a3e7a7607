"""The pages of the documentation. They contain no data of anyone, so that any cache may store them.

The exception is the demo's own developer, whose pages have the demo's key (`api.description.demo_values`).
"""

import functools
from collections.abc import Callable, Mapping
from typing import Any

import orjson
from flask import Blueprint, Flask, Response, request

from api.access.guards import Guard
from api.description import demo_values, guide, page, stored_documents
from api.description.page import OperationEntry
from api.description.stored_documents import StoredDocument
from api.edge.operations import operation
from api.service import description
from domain.refusals import Refused
from pages import documents, static_files
from pages.docs import code_tabs, contents

blueprint = Blueprint("docs", __name__)

# The pages may contain secrets of their reader: scripts of other sites must not read them.
_PAGE = Guard(audience="public", bucket="anonymous")
_OWN = "'self'"
_ALLOWED = {"style-src": _OWN, "script-src": _OWN, "img-src": _OWN, "connect-src": _OWN, "form-action": "'none'"}
# The demo's value for each placeholder of an example.
_DEMO_PLACEHOLDERS = {
    "$KEY": "apiKey",
    "$PROGRAM_ID": "programId",
    "$AFFILIATE_ID": "recruiterId",
    "$ENDPOINT_ID": "webhookEndpointId",
    "c4e2a9d0-1f37-45b8-b6c1-8d7e6f5a4b33": "programId",
    "7b1f6a3c-52d4-4e8f-8a60-2c9d4e5b6f22": "recruiterId",
    "robin-vale": "affiliateSlug",
}
_MAX_CACHED_PAGES = 256

_Demo = tuple[tuple[str, str], ...]


@blueprint.get("/docs")
@operation(_PAGE, documents.HTML)
def read_docs() -> Response:
    """The index of the documentation for people, with every operation."""
    return _respond(contents.Chapter("", ""))


@blueprint.get("/docs/errors")
@operation(_PAGE, documents.HTML)
def read_error_codes() -> Response:
    """Every error code with its status, its meaning and what to do."""
    return _respond(contents.Chapter(contents.ERRORS, "Errors"))


@blueprint.get("/docs/<chapter>")
@operation(_PAGE, documents.HTML, refuses=("404 not_found",))
def read_docs_chapter(chapter: str) -> Response:
    """One chapter of the documentation: a guide, or the operations of one group."""
    sections = description.describe(description.application()).sections
    chapters = [*contents.list_guides(), *contents.list_groups(sections)]
    by_name = {listed.name: listed for listed in chapters}
    if chapter not in by_name:
        raise Refused(404, "not_found", "There is no such chapter. /docs lists all chapters.")
    return _respond(by_name[chapter])


def _respond(chapter: contents.Chapter) -> Response:
    demo = demo_values.read_demo_values(request)
    document = _store_page(description.application(), chapter, tuple((demo or {}).items()))
    answer = document.respond()
    policy = documents.page_headers(_ALLOWED)
    answer.headers["Content-Security-Policy"] = policy["Content-Security-Policy"]
    answer.headers["Referrer-Policy"] = policy["Referrer-Policy"]
    if demo:
        answer.headers["Cache-Control"] = "no-store"
    return answer


@functools.lru_cache(maxsize=_MAX_CACHED_PAGES)
def _store_page(app: Flask, chapter: contents.Chapter, demo: _Demo) -> StoredDocument:
    described = description.describe(app)
    template, values = _page_values(described, chapter)
    html = documents.render_html(
        f"docs/{template}.html",
        chapter=chapter,
        about=described.document["info"],
        base_url=described.document["servers"][0]["url"],
        guides=contents.list_guides(),
        groups=contents.list_groups(described.sections),
        static=static_files.url,
        html=guide.render_html,
        inline=guide.render_inline,
        pretty=_indented_json,
        demo=bool(demo),
        fill=_filler(dict(demo)),
        **values,
    )
    return stored_documents.store(html, "text/html")


def _page_values(described: description.Description, chapter: contents.Chapter) -> tuple[str, Mapping[str, Any]]:
    """Return the template of a chapter and its values."""
    if not chapter.name:
        return "index", {
            "sections": described.sections,
            "former": contents.FORMER_ANCHORS,
            "events": page.list_events(described.document),
        }
    if chapter.name == contents.ERRORS:
        return "errors", {"codes": described.codes, "address_of": _addresses(described)}
    if chapter.name == contents.EVENTS:
        return "events", {"events": page.list_events(described.document)}
    if chapter.name in described.chapters:
        _, _, text = described.chapters[chapter.name].partition("\n")
        body = guide.render_html(text.replace("\n### ", "\n## "))
        return "guide", {"body": code_tabs.join_neighbours(body)}
    section = next(section for section in described.sections if section.tag == chapter.name)
    return "reference", {"section": section, "tabs": _tabs, "is_sendable": is_sendable}


def is_sendable(entry: OperationEntry) -> bool:
    """Return whether the page offers to send an operation with a test key."""
    is_read = entry.method == "GET" and entry.callers == "brand"
    return is_read or entry.id in contents.SAFE_WRITES


def _tabs(entry: OperationEntry, fill: Callable[[str], str]) -> str:
    samples = (("sh", entry.command), ("python", entry.python), ("js", entry.javascript))
    return code_tabs.render_tabs(entry.id, [(language, fill(code)) for language, code in samples])


def _addresses(described: description.Description) -> Mapping[str, str]:
    return {entry.id: f"/docs/{section.tag}#{entry.id}" for section in described.sections for entry in section.entries}


def _filler(demo: Mapping[str, str]) -> Callable[[str], str]:
    """Return a function that fills the demo's values into an example."""

    def fill(example: str) -> str:
        for placeholder, name in _DEMO_PLACEHOLDERS.items():
            example = example.replace(placeholder, demo.get(name, placeholder))
        return example

    return fill


def _indented_json(example: Any) -> str:
    return orjson.dumps(example, option=orjson.OPT_INDENT_2).decode()
