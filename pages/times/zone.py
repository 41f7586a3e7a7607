"""The time zone of a page: an organization's for its people, the browser's for affiliates, UTC for everybody else.

A script tells the browser's zone in a cookie. Without it affiliates see the zone of the brands that they work for,
where these agree.
"""

from collections.abc import Collection
from urllib.parse import unquote
from zoneinfo import ZoneInfo

from flask import g, has_request_context, request

from domain.organization import time_zones
from pages import session

#: Where app.js writes the name of the browser's zone, percent-encoded.
COOKIE = "finderfee-zone"


def current() -> ZoneInfo:
    """Return the zone of the page that is being made. Looked up once a request."""
    if not has_request_context():
        return time_zones.find_zone(None)
    found: ZoneInfo | None = g.get("page_zone")
    if found is None:
        found = g.page_zone = _of_person()
    return found


def use_brands(names: Collection[str]) -> None:
    """Show an affiliate's page in the zone of their brands, unless their browser names one."""
    agreed = next(iter(names)) if len(set(names)) == 1 else None
    g.page_zone = time_zones.find_zone(_of_browser() or agreed)


def _of_person() -> ZoneInfo:
    person = session.present()
    if person is None or person.kind == "operator":
        return time_zones.find_zone(None)
    return time_zones.find_zone(person.member.timezone if person.member else _of_browser())


def _of_browser() -> str | None:
    name = unquote(request.cookies.get(COOKIE, ""))
    return name if time_zones.is_known(name) else None
