"""Short links: one redirect to the site that the campaign promotes, and a click on its way.

A visitor arrives whether or not anybody earns by it. Where they arrive is the brand's to say: nothing of the request
but the slug and the channel's tag is in the address that they are sent to.
Source: tracking spec, "Public click endpoint"; core spec, "Program" (referralDestinationUrl).
"""

from flask import Blueprint, Response, request

from api.access.guards import Guard
from api.clicks import visits
from api.clicks.visits import Origin
from api.edge.operations import operation, text
from domain import links
from domain.clicks import raw_click as rules
from domain.clicks import subid
from domain.refused import Refused
from models import db
from models.clicks.public_links import Link
from pipelines.clicks import public_links

blueprint = Blueprint("short_links", __name__)

_OPEN = Guard(audience="public", bucket=visits.BUCKET, counts_itself=True)
_PAGE = text("text/html")
_HTML = "text/html; charset=utf-8"
_TAGS = ("subId", "sub_id", "subid")
_HEADERS = {"Cache-Control": "no-store", "X-Robots-Tag": "noindex"}

# The same for every slug that leads nowhere, so that it tells nobody whose it was.
_NOWHERE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex">
<title>Nothing here</title>
<style>body{font:1.1rem/1.5 system-ui,sans-serif;max-width:34rem;margin:3rem auto;padding:0 1rem}</style></head>
<body><main>
<h1>This link leads nowhere</h1>
<p>It may have been mistyped, or it has ended. Whoever gave it to you can give you a new one.</p>
</main></body></html>
"""
_NOWHERE_HEADERS = _HEADERS | {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "Referrer-Policy": "no-referrer",
}


@blueprint.get("/r/<slug>")
@operation(_OPEN, _PAGE, status=302, refuses=("404",))
def follow_link(slug: str) -> Response:
    """Follow a short link to the site that its campaign promotes."""
    return _followed(slug, None)


@blueprint.get("/r/<program>/<slug>")
@operation(_OPEN, _PAGE, status=302, refuses=("404",))
def follow_link_of_program(program: str, slug: str) -> Response:
    """Follow a short link whose slug has several campaigns: `program` is one's id, or its slug.

    Slugs of campaigns are not the service's own: two slugs lead to whom they led to first, for ever. An id is safe.
    """
    return _followed(slug, program)


def _followed(slug: str, program: str | None) -> Response:
    is_bare = program is None
    if visits.is_over_limit():
        # Who follows what many follow arrives all the same; the database is not asked for whoever tries slugs.
        link = public_links.last_known(slug, program, is_shared_bare=is_bare)
        return _answer(link, None, is_over_limit=True)
    try:
        link = visits.find(slug, program, is_shared_bare=is_bare)
    except db.UNAVAILABLE:
        visits.lose()
        raise
    origin = Origin(
        sub_id=subid.normalize(next((request.args[name] for name in _TAGS if name in request.args), None)),
        referrer=request.headers.get("Referer"),
        query_names=rules.query_names(f"?{request.query_string.decode('latin-1')}"),
    )
    counted = visits.count(link, origin)
    return _answer(link, origin.sub_id, is_over_limit=counted.is_over_limit)


def _answer(link: Link | None, sub_id: str | None, *, is_over_limit: bool) -> Response:
    if link is not None and link.destination_url and not link.is_archived:
        site = links.landing(slug=link.slug, destination_url=link.destination_url, sub_id=sub_id)
        return Response(status=302, content_type=_HTML, headers=_HEADERS | {"Location": site})
    if is_over_limit:
        raise Refused(429)
    return Response(_NOWHERE, status=404, content_type=_HTML, headers=_NOWHERE_HEADERS)
