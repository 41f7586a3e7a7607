"""Visits through links, reported by a script in the page, or by an image if scripts are off.

Source: tracking spec, "Public click endpoint" and "Install snippet"; section 8 "Limits".
"""

import base64
import re
from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from flask import Blueprint, Response, request
from marshmallow import ValidationError

from api.access.guards import Guard
from api.clicks import debug, tag_sightings, visits
from api.clicks.visits import VisitOrigin
from api.edge import body
from api.edge.operations import object_of, operation, text
from domain import links
from domain.clicks import raw_click, subid
from domain.clicks.attribution_params import Params
from domain.refusals import Refused
from models import db
from models.clicks.public_links import Link
from models.organization import organizations
from pipelines.clicks.public_links import SlugAddress
from schemas.clicks.click import ClickAnswer, ClickBody, ClickDebug, ClickQuery, GifQuery

blueprint = Blueprint("clicks", __name__)

#: The address that pages report visits to, and the size limit of a report.
PATH = "/api/v1/track/click"
MAX_BYTES = 32 * 1024
_PUBLIC = Guard(audience="public", bucket=visits.BUCKET, counts_itself=True, open_cors=True, max_body_bytes=MAX_BYTES)
_ANSWER = ClickAnswer()
BODY = ClickBody()
# An address that can name a slug: in a parameter or in its path.
_MAY_NAME = re.compile(r"\?|/via/", re.IGNORECASE)
_MAX_SLUGS = 5
_GIF = base64.b64decode("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAICRAEAOw==")
_GIF_HEADERS = {"Cache-Control": "no-store", "Cross-Origin-Resource-Policy": "cross-origin"}


@blueprint.get(PATH)
@operation(_PUBLIC, object_of(_ANSWER), asks=ClickQuery(), writes=True)
def count_click_by_query() -> Mapping[str, object]:
    """Count a visit reported in the query, with the answer of the POST. For pages that cannot send a body."""
    return _record(body.query)


@blueprint.post(PATH)
@operation(_PUBLIC, object_of(_ANSWER), takes=BODY, asks=ClickDebug(), takes_as=("text/plain",))
def count_click() -> Mapping[str, object]:
    """Count a visit. 200 with the click and the terms of its campaign, or only `{ok}` if no link can earn from it.

    JSON with any content type: a browser sends a beacon as text. With `debug=1` in the query and a key or a
    session of the program's organization, the answer also contains the outcome of the click and its reasons.
    """
    return _record(body.load)


@blueprint.get("/api/v1/r/c.gif")
@operation(_PUBLIC, text("image/gif"), asks=GifQuery(), writes=True)
def get_pixel() -> Response:
    """Show one transparent pixel for any query, and record that the campaign's page has the tag.

    A visit counts if the page's address, from the Referer header, names a link. The script sends `script=1`: it
    reports visits itself, so this only records that it runs on the page.
    """
    try:
        if not visits.is_over_limit():
            query = body.query()
            if query["script"] == "1":
                tag_sightings.record_script(query["program_id"])
            else:
                _note_page_visit(query["program_id"])
    except db.UNAVAILABLE:  # the image is returned in any case
        if _MAY_NAME.search(request.headers.get("Referer", "")):
            visits.count_lost()
    return Response(_GIF, content_type="image/gif", headers=_GIF_HEADERS)


def _record(read: Callable[[], Mapping[str, Any]]) -> Mapping[str, object]:
    if visits.is_over_limit():
        raise Refused(429)
    try:
        fields = read()
    except ValidationError:
        _count(None, VisitOrigin())  # malformed requests count too
        raise
    try:
        link = visits.find(address_of(fields))
    except db.UNAVAILABLE:
        visits.count_lost()
        return serialize(None, None)
    origin = origin_of(fields)
    explain = debug.find_explainer(link, origin, fields["program_id"])
    click_id = _count(link, origin)
    answer = serialize(click_id, link)
    return answer if explain is None else {**answer, "debug": explain(click_id is not None)}


def _count(link: Link | None, origin: VisitOrigin) -> str | None:
    result = visits.count(link, origin)
    if result.is_over_limit:
        raise Refused(429)
    return result.click_id


def address_of(fields: Mapping[str, Any]) -> SlugAddress:
    """Return the slug of a loaded `ClickBody`, with its program or pixel key."""
    program = str(fields["program_id"]) if fields["program_id"] else None
    return SlugAddress(fields["slug"], program, is_on_tag=True, pixel_key=fields["pixel_key"])


def origin_of(fields: Mapping[str, Any]) -> VisitOrigin:
    """Return the origin of a visit from a loaded `ClickBody`."""
    return VisitOrigin(
        sub_id=subid.normalize(fields["sub_id"]),
        referrer=fields["referrer"],
        query_names=raw_click.query_names_from_url(fields["url"]) if fields["url"] else (),
        visitor_id=fields["visitor_id"] or None,
    )


def serialize(click_id: str | None, link: Link | None) -> Mapping[str, object]:
    """Return the response about a click; `{ok}` alone without one."""
    if click_id is None or link is None:
        return {"ok": True}
    answer: Mapping[str, object] = _ANSWER.dump(
        {
            "ok": True,
            "click_id": click_id,
            "program_id": link.program_id,
            "slug": link.slug,
            "cookie_window_days": link.cookie_window_days,
            "attribution_model": link.attribution_model,
        }
    )
    return answer


def _note_page_visit(program: str | None) -> None:
    program_id = tag_sightings.uuid_from_text(program)
    page = request.headers.get("Referer", "")
    if program_id is not None:
        tag_sightings.record_page(program_id)
    link = _find_link_on_page(page, program, program_id) if _MAY_NAME.search(page) else None
    visits.count(link, VisitOrigin(query_names=raw_click.query_names_from_url(page)))


def _find_link_on_page(page: str, program: str | None, program_id: UUID | None) -> Link | None:
    """Return the first link in the address of a page that can earn; else the first link."""
    custom = None
    if program_id is not None:
        with db.any_org_work():
            custom = organizations.any_org_find_params_by_program(program_id)
    texts = links.texts_from_url(page, Params(custom).effective_order)[:_MAX_SLUGS]
    candidates = [visits.find(SlugAddress(text, program, is_on_tag=True)) for text in texts]
    existing = [link for link in candidates if link is not None]
    return next((link for link in existing if link.can_earn), existing[0] if existing else None)
