"""Redirects of short links, with their click.

A visitor is redirected whether or not the affiliate can earn. The brand sets host, path and fragment of the
destination. The visitor's query parameters are forwarded, except those that the destination has itself and those that
name an affiliate.
Source: tracking spec, "Public click endpoint"; core spec, "Program" (referralDestinationUrl).
"""

from flask import request

from api.clicks import visits
from api.clicks.visits import VisitOrigin
from domain import links
from domain.clicks import carriers, raw_click, subid
from domain.clicks.attribution_params import Params
from domain.gateways import referrals
from domain.refusals import Refused
from models import db
from models.clicks.public_links import Link
from pipelines.clicks import public_links
from pipelines.clicks.public_links import SlugAddress

# Only the service sets the affiliate and the sub id.
_RESERVED = frozenset(name.lower() for name in (*links.TAG_PARAMETERS, referrals.SLUG_KEY, *carriers.PARAMETERS))


def follow(slug: str, program: str | None) -> str | None:
    """Count this request as a visit and return the address to redirect to; None if the link has no destination.

    `program` is an id or a slug. Raises Refused 429, and the database's error for a slug that is not cached.
    """
    address = _address_from_path(slug, program)
    if visits.is_over_limit():
        # A cached link is served even when its caller is over the limit; the database is not queried for guessed slugs.
        url = _landing_url(public_links.find_last_cached(address), None)
        if url is None:
            raise Refused(429)
        return url
    try:
        link = visits.find(address)
    except db.UNAVAILABLE:
        visits.count_lost()
        raise
    visit_origin = origin_from_request()
    is_over_limit = visits.count(link, visit_origin).is_over_limit
    url = _landing_url(link, visit_origin.sub_id)
    if url is None and is_over_limit:
        raise Refused(429)
    return url


def origin_from_request() -> VisitOrigin:
    """Return the origin of a visitor who follows a link, from this request."""
    fields = links.fields_from_url(f"?{_query()}")
    tags = (fields.get(name.lower()) for name in links.TAG_PARAMETERS)
    return VisitOrigin(
        sub_id=subid.normalize(next(filter(None, tags), None)),
        referrer=request.headers.get("Referer"),
        query_names=raw_click.query_names_from_url(f"?{_query()}"),
    )


def _address_from_path(slug: str, program: str | None) -> SlugAddress:
    if program is not None and not any(
        character.isalnum() for character in slug
    ):  # punctuation behind a short link, as in `/r/ben/),`
        slug, program = program, None
    return SlugAddress(slug, program, is_shared_bare=program is None)


def _landing_url(link: Link | None, sub_id: str | None) -> str | None:
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
