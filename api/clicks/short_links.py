"""Where a short link leads, with the click on its way.

A visitor arrives whether or not anybody earns by it. Host, path and fragment of where they arrive are the brand's to
say. The parameters that the visitor brought go along, except those that the brand's address has itself and those that
name an affiliate.
Source: tracking spec, "Public click endpoint"; core spec, "Program" (referralDestinationUrl).
"""

from flask import request

from api.clicks import visits
from api.clicks.visits import VisitOrigin
from domain import links, slugs
from domain.clicks import carriers, raw_click, subid
from domain.clicks.attribution_params import Params
from domain.gateways import referrals
from domain.refused import Refused
from models import db
from models.clicks.public_links import Link
from pipelines.clicks import public_links
from pipelines.clicks.public_links import SlugAddress

# Only we name the affiliate and the channel.
_RESERVED = frozenset(name.lower() for name in (*links.TAG_PARAMETERS, referrals.SLUG_KEY, *carriers.PARAMETERS))


def follow(slug: str, program: str | None) -> str | None:
    """Count the visit that this request is and return the address it is sent on to; None for a link to nowhere.

    `program` is an id or a slug. Raises Refused 429, and what the database raised for a slug that nobody remembers.
    """
    address = _address(slug, program)
    if visits.is_over_limit():
        # Who follows what many follow arrives all the same; the database is not asked for strangers who try slugs.
        site = _site(public_links.last_known(address), None)
        if site is None:
            raise Refused(429)
        return site
    try:
        link = visits.find(address)
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
    fields = links.fields_from_url(f"?{_query()}")
    tags = (fields.get(name.lower()) for name in links.TAG_PARAMETERS)
    return VisitOrigin(
        sub_id=subid.normalize(next(filter(None, tags), None)),
        referrer=request.headers.get("Referer"),
        query_names=raw_click.query_names_from_url(f"?{_query()}"),
    )


def _address(slug: str, program: str | None) -> SlugAddress:
    if program is not None and slugs.read(slug) is None:  # punctuation behind a short link, as in `/r/ben/),`
        slug, program = program, None
    return SlugAddress(slug, program, is_shared_bare=program is None)


def _site(link: Link | None, sub_id: str | None) -> str | None:
    if link is None or not link.destination_url or link.is_archived:
        return None
    reserved = _RESERVED.union(Params(link.attribution_params).effective_order)
    return links.landing_url(
        slug=link.slug,
        destination_url=link.destination_url,
        sub_id=sub_id,
        forwarded=links.list_forwardable(_query(), reserved=reserved),
    )


def _query() -> str:
    return request.query_string.decode("utf-8", "surrogateescape")
