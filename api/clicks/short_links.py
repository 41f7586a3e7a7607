"""Where a short link leads, with the click on its way.

A visitor arrives whether or not anybody earns by it. Where they arrive is the brand's to say: nothing of the request
but the slug and the channel's tag is in the address that they are sent to.
Source: tracking spec, "Public click endpoint"; core spec, "Program" (referralDestinationUrl).
"""

from flask import request

from api.clicks import visits
from api.clicks.visits import VisitOrigin
from domain import links
from domain.clicks import raw_click, subid
from domain.refused import Refused
from models import db
from models.clicks.public_links import Link
from pipelines.clicks import public_links

_TAGS = ("subId", "sub_id", "subid")


def follow(slug: str, program: str | None) -> str | None:
    """Count the visit that this request is and return the address it is sent on to; None for a link to nowhere.

    `program` is an id or a slug. Raises Refused 429, and what the database raised for a slug that nobody remembers.
    """
    is_bare = program is None
    if visits.is_over_limit():
        # Who follows what many follow arrives all the same; the database is not asked for strangers who try slugs.
        site = _site(public_links.last_known(slug, program, is_shared_bare=is_bare), None)
        if site is None:
            raise Refused(429)
        return site
    try:
        link = visits.find(slug, program, is_shared_bare=is_bare)
    except db.UNAVAILABLE:
        visits.lose()
        raise
    came_from = origin()
    is_over_limit = visits.count(link, came_from).is_over_limit
    site = _site(link, came_from.sub_id)
    if site is None and is_over_limit:
        raise Refused(429)
    return site


def origin() -> VisitOrigin:
    """Return where a visitor who follows a link comes from, as far as this request says."""
    return VisitOrigin(
        sub_id=subid.normalize(next((request.args[name] for name in _TAGS if name in request.args), None)),
        referrer=request.headers.get("Referer"),
        query_names=raw_click.query_names(f"?{request.query_string.decode('latin-1')}"),
    )


def _site(link: Link | None, sub_id: str | None) -> str | None:
    if link is None or not link.destination_url or link.is_archived:
        return None
    return links.landing(slug=link.slug, destination_url=link.destination_url, sub_id=sub_id)
