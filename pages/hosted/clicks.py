"""Short links: one redirect to the site that the campaign promotes, or a page for an invalid link.

Source: tracking spec, "Public click endpoint"; core spec, "Program" (referralDestinationUrl).
"""

from flask import Blueprint, Response

from api.access.guards import Guard
from api.clicks import short_links, visits
from api.edge.operations import operation
from pages import documents

blueprint = Blueprint("short_links", __name__)

_OPEN = Guard(audience="public", bucket=visits.BUCKET, counts_itself=True)
_HEADERS = {"Cache-Control": "no-store", "X-Robots-Tag": "noindex"}


@blueprint.get("/r/<slug>", strict_slashes=False)
@operation(_OPEN, documents.HTML, status=302, refuses=("404",), writes=True)
def follow_link(slug: str) -> Response:
    """Follow a short link to the site that its campaign promotes."""
    return _redirect(short_links.follow(slug, None))


@blueprint.get("/r/<program>/<slug>", strict_slashes=False)
@operation(_OPEN, documents.HTML, status=302, refuses=("404",), writes=True)
def follow_link_of_program(program: str, slug: str) -> Response:
    """Follow a short link whose slug has several campaigns: `program` is one's id, or its slug.

    Slugs of campaigns are not unique: a pair of slugs always leads to the campaign that had it first. An id is safe.
    """
    return _redirect(short_links.follow(slug, program))


def _redirect(site: str | None) -> Response:
    if site is None:  # the same for every invalid slug, so that it reveals nothing about its owner
        return documents.render_notice(
            "This link does not work",
            "It may be mistyped or no longer active. Please ask the person who sent it for a new one.",
            title="Link not found",
            status=404,
        )
    return Response(status=302, content_type="text/html; charset=utf-8", headers=_HEADERS | {"Location": site})
