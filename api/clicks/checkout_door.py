"""The checkout door: an address that remembers who sent a buyer, and leads on to a checkout where no script can run.

It opens for an affiliate who can earn in a campaign that has a door and a site; any other address is the same nothing.
Where it leads is the brand's to say: of the request only the slug and the channel's tag are in the address.
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
from domain.refused import Refused
from models import db
from models.clicks import doors
from models.clicks.public_links import Link
from models.organization import organizations
from pipelines.clicks import public_links
from pipelines.clicks.public_links import SlugAddress

#: The mode of a door that asks for the buyer's email first.
EMAIL = "email"

_LONGEST_PROGRAM = 64

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class DoorForm:
    """What a door that asks for the email shows: whose it is, in which colour, and a token that proves a person.

    An email that is given is forgotten after `kept_days`; None: it is kept for ever.
    """

    link: Link
    brand: str
    logo_url: str | None
    color: str | None
    text_color: str | None
    kept_days: int | None
    token: str


def open_link(program: str, slug: str) -> Link | None:
    """Count the visit that this request is and return the link whose door is open; None where there is no such door.

    A visit of a door that asks nothing is remembered, too. Raises Refused 429, and what the database raised for a slug
    that nobody remembers. Budget: 1 round trip to the stream's server; to the database 1 more statement for a program
    by its slug, 1 for a link that this process was not asked for lately, and the memory of the visit.
    """
    if visits.is_over_limit():
        # Who comes by what many come by arrives all the same; the database is not asked for strangers who try slugs.
        link = public_links.last_known(SlugAddress(slug, program))
        if not _is_open(link):
            raise Refused(429)
        return link
    link = find(program, slug)
    counted = visits.count(link, short_links.origin())
    if link is None and counted.is_over_limit:
        raise Refused(429)
    if link is not None and link.door_mode != EMAIL and visits.is_visit() and not counted.is_over_limit:
        ip, agent = request.remote_addr or "", raw_click.agent_from_header(request.headers.get("User-Agent", ""))
        _remember(link, visitor=visitors.visitor(ip, agent))
    return link


def find(program: str, slug: str) -> Link | None:
    """Return the link of a slug whose door is open; `program` is an id or a slug that one brand's door alone has."""
    try:
        link = visits.find(SlugAddress(slug, program))
    except db.UNAVAILABLE:
        visits.lose()
        raise
    if not _is_open(link):
        return None
    return link if _is_id(program) or _is_the_one(link, program) else None


def form(link: Link) -> DoorForm:
    """Return the form of a link's door. Budget: 1 statement."""
    with db.unit_of_work(link.organization_id):
        brand = organizations.find(link.organization_id)
    assert brand is not None  # a link stands in it
    color = brand.primary_brand_color
    kept_after = settings.current().retention.days["door_visits"]
    return DoorForm(
        link=link,
        brand=brand.name,
        logo_url=brand_files.url(brand.logo_file_id),
        color=color,
        text_color=colors.text_on(color) if color else None,
        kept_days=link.cookie_window_days + kept_after if kept_after else None,
        token=human_check.own().issue(now=clock.now(), ready_in_s=human_check.FILLING_S),
    )


def is_human(token: str) -> bool:
    """Say whether somebody fetched the form with this token and took their time."""
    return human_check.own().verify(token, ip="", about="", now=clock.now())


def remember_email(link: Link, email: str) -> None:
    """Remember that a buyer came by a link, so that a payment of theirs is known by their email."""
    _remember(link, email_normalized=emails.normalize(email))


def checkout(link: Link) -> str:
    """Return the address that a buyer is sent on to."""
    assert link.destination_url is not None  # its door is open
    return carriers.checkout_url(
        slug=link.slug,
        destination_url=link.destination_url,
        sub_id=short_links.origin().sub_id,
        gateways=link.gateways,
    )


def thank_you(program: str) -> str | None:
    """Return where a program thanks its buyers, with the query of this request; None where there is no such page.

    Budget: 1 statement.
    """
    if not 0 < len(program) <= _LONGEST_PROGRAM or "\x00" in program:
        return None
    with db.any_org_work():
        door = doors.any_org_find(program)
    if door is None or door.thank_you_url is None:
        return None
    parts = urlsplit(door.thank_you_url)
    told = request.query_string.decode("latin-1")
    return urlunsplit(parts._replace(query="&".join(part for part in (parts.query, told) if part)))


def _is_open(link: Link | None) -> bool:
    return link is not None and link.door_mode is not None and link.can_earn and bool(link.destination_url)


def _is_the_one(link: Link | None, program: str) -> bool:
    assert link is not None  # its door is open
    try:
        with db.any_org_work():
            door = doors.any_org_find(program)
    except db.UNAVAILABLE:
        return True  # an address that this process knows, and that was one brand's
    return door is not None and door.program_id == link.program_id


def _remember(link: Link, *, visitor: str | None = None, email_normalized: str | None = None) -> None:
    try:
        with db.unit_of_work(link.organization_id):
            doors.stage_visit(link, visitor=visitor, email_normalized=email_normalized, at=clock.now())
    except db.UNAVAILABLE as error:
        # The buyer goes on: what the checkout carries still says who sent them.
        _log.warning("door.forgotten", error=str(error).strip().partition("\n")[0])


def _is_id(program: str) -> bool:
    try:
        UUID(program)
    except ValueError:
        return False
    return True
