"""The checkout door: an address that stores who sent a buyer and redirects to a checkout where no script can run.

It works for an affiliate who can earn in a campaign that has a door and a site; any other address is not found.
The brand sets the destination; of the request only the slug and the sub id are added to it.
Source: core spec, "Program" (hostedCheckoutDoorEnabled, hostedCheckoutDoorMode, hostedCheckoutThankYouUrl).
"""

from dataclasses import dataclass
from urllib.parse import urlsplit, urlunsplit
from uuid import UUID

import structlog
from flask import request

import settings
from adapters import clock
from adapters.clicks import visitors
from adapters.fraud import human_check
from api.clicks import short_links, visits
from api.organization import brand_files
from domain import emails
from domain.clicks import carriers, raw_click
from domain.organization import colors
from domain.refusals import Refused
from models import db
from models.clicks import doors
from models.clicks.public_links import Link
from models.organization import organizations
from pipelines.clicks import public_links
from pipelines.clicks.public_links import SlugAddress

#: The mode of a door that asks for the buyer's email first.
EMAIL_MODE = "email"

_MAX_PROGRAM_LENGTH = 64

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class DoorForm:
    """The form of a door that asks for the buyer's email: the brand, its colours, and a token against robots.

    The email is deleted after `stored_days`; None: it is stored permanently.
    """

    link: Link
    brand: str
    logo_url: str | None
    color: str | None
    text_color: str | None
    stored_days: int | None
    token: str


def open_link(program: str, slug: str) -> Link | None:
    """Count this request as a visit and return the link of its door; None if there is no such door.

    A door without a form also stores the visit. Raises Refused 429, and the database's error for a slug that is not
    cached. Budget: 1 round trip to the stream's server; to the database 1 statement for a program by its slug, 1 for a
    link that is not cached, and those that store the visit.
    """
    if visits.is_over_limit():
        # A cached link is served even when its caller is over the limit; the database is not queried for guessed slugs.
        link = public_links.find_last_cached(SlugAddress(slug, program))
        if not _is_open(link):
            raise Refused(429)
        return link
    link = find_link(program, slug)
    counted = visits.count(link, short_links.origin_from_request())
    if link is None and counted.is_over_limit:
        raise Refused(429)
    if link is not None and link.door_mode != EMAIL_MODE and visits.is_visit() and not counted.is_over_limit:
        ip, agent = request.remote_addr or "", raw_click.agent_from_header(request.headers.get("User-Agent", ""))
        _stage_visit(link, visitor=visitors.visitor(ip, agent))
    return link


def find_link(program: str, slug: str) -> Link | None:
    """Return the link of a slug with a working door; `program` is an id, or a slug that only one brand's door has."""
    try:
        link = visits.find(SlugAddress(slug, program))
    except db.UNAVAILABLE:
        visits.count_lost()
        raise
    if not _is_open(link):
        return None
    return link if _is_id(program) or _is_of_program(link, program) else None


def build_form(link: Link) -> DoorForm:
    """Return the form of a link's door. Budget: 1 statement."""
    with db.unit_of_work(link.organization_id):
        brand = organizations.find(link.organization_id)
    assert brand is not None  # a link belongs to one
    color = brand.primary_brand_color
    after_days = settings.current().retention.days["door_visits"]
    return DoorForm(
        link=link,
        brand=brand.name,
        logo_url=brand_files.file_url(brand.logo_file_id),
        color=color,
        text_color=colors.text_on(color) if color else None,
        stored_days=link.cookie_window_days + after_days if after_days else None,
        token=human_check.own().issue(now=clock.now(), ready_in_s=human_check.FILLING_S),
    )


def is_human(token: str) -> bool:
    """Return whether a token of the form is valid and the form was not sent faster than a person can."""
    return human_check.own().verify(token, ip="", about="", now=clock.now())


def remember_email(link: Link, email: str) -> None:
    """Store that a buyer came through a link, so that their payment is attributed by their email."""
    _stage_visit(link, email_normalized=emails.normalize(email))


def checkout_url(link: Link) -> str:
    """Return the address of the checkout that a buyer is redirected to."""
    assert link.destination_url is not None  # its door is open
    return carriers.checkout_url(
        slug=link.slug,
        destination_url=link.destination_url,
        sub_id=short_links.origin_from_request().sub_id,
        gateways=link.gateways,
    )


def thank_you_url(program: str) -> str | None:
    """Return the address of a program's thank-you page with the query of this request; None if it has none.

    Budget: 1 statement.
    """
    if not 0 < len(program) <= _MAX_PROGRAM_LENGTH or "\x00" in program:
        return None
    with db.any_org_work():
        door = doors.any_org_find(program)
    if door is None or door.thank_you_url is None:
        return None
    parts = urlsplit(door.thank_you_url)
    query = request.query_string.decode("latin-1")
    return urlunsplit(parts._replace(query="&".join(part for part in (parts.query, query) if part)))


def _is_open(link: Link | None) -> bool:
    return link is not None and link.door_mode is not None and link.can_earn and bool(link.destination_url)


def _is_of_program(link: Link | None, program: str) -> bool:
    assert link is not None  # its door is open
    try:
        with db.any_org_work():
            door = doors.any_org_find(program)
    except db.UNAVAILABLE:
        return True  # a cached address, which was unique when it was cached
    return door is not None and door.program_id == link.program_id


def _stage_visit(link: Link, *, visitor: str | None = None, email_normalized: str | None = None) -> None:
    try:
        with db.unit_of_work(link.organization_id):
            doors.stage_visit(link, visitor=visitor, email_normalized=email_normalized, at=clock.now())
    except db.UNAVAILABLE as error:
        # The buyer goes on: the checkout's address still names the affiliate.
        _log.warning("door.forgotten", error=str(error).strip().partition("\n")[0])


def _is_id(program: str) -> bool:
    try:
        UUID(program)
    except ValueError:
        return False
    return True
