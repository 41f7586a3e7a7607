"""The time zone of a page: an organization's for its people, the browser's for affiliates, UTC for all others.

A script writes the browser's zone into a cookie. Without it affiliates see the zone of the brands that they work for,
if all of these have the same.
"""

from collections.abc import Collection
from urllib.parse import unquote
from zoneinfo import ZoneInfo

from flask import g, has_request_context, request

from domain.organization import time_zones
from pages import session

#: Where app.js writes the name of the browser's zone, percent-encoded.
COOKIE = "finderfee-zone"


def current_zone() -> ZoneInfo:
    """Return the zone of the current page. Determined once a request."""
    if not has_request_context():
        return time_zones.find_zone(None)
    page_zone: ZoneInfo | None = g.get("page_zone")
    if page_zone is None:
        page_zone = g.page_zone = _zone_of_person()
    return page_zone


def use_zone_of_brands(names: Collection[str]) -> None:
    """Use the zone of an affiliate's brands for the page, unless their browser has sent one."""
    agreed = next(iter(names)) if len(set(names)) == 1 else None
    g.page_zone = time_zones.find_zone(_zone_of_browser() or agreed)


def _zone_of_person() -> ZoneInfo:
    person = session.find_person()
    if person is None or person.kind == "operator":
        return time_zones.find_zone(None)
    return time_zones.find_zone(person.member.timezone if person.member else _zone_of_browser())


def _zone_of_browser() -> str | None:
    name = unquote(request.cookies.get(COOKIE, ""))
    return name if time_zones.is_known(name) else None
