"""Records that a brand's page has our tag: rarely, cached in memory, and with nothing about the visitor.

Source: tracking spec, "Install snippet" (noscript image).
"""

import re
import threading
import time
from datetime import timedelta
from urllib.parse import urlsplit
from uuid import UUID

from flask import request

from adapters import clock
from api.clicks import visits
from api.clicks.visits import VisitOrigin
from models import db
from models.clicks import public_links

# How often a sighting of a campaign's page, and of the script running on one, is recorded; and how many are cached.
_PAGE_EVERY = timedelta(hours=1)
_SCRIPT_EVERY = timedelta(minutes=5)
_CACHE_SIZE = 10_000

_ORIGIN = re.compile(r"https?://[a-z0-9.-]{1,253}(:[0-9]{1,5})?")

_cached_until: dict[tuple[str, UUID], float] = {}
_lock = threading.Lock()


def record_page(program_id: UUID) -> None:
    """Record that a page of a program loaded our image."""
    if _is_cached("page", program_id):
        return
    with db.any_org_work():
        public_links.any_org_stage_install_seen(program_id=program_id, at=clock.now(), at_most_every=_PAGE_EVERY)
    _remember("page", program_id, _PAGE_EVERY)


def record_script(program: str | None) -> None:
    """Record that the script ran on a page of a program, and the origin of that page.

    Budget: none while it is cached; else the count in the sender's limit and 1 statement.
    """
    program_id = uuid_from_text(program)
    if program_id is None or _is_cached("script", program_id) or not visits.is_visit():
        return
    if visits.count(None, VisitOrigin()).is_over_limit:
        return
    with db.any_org_work():
        public_links.any_org_stage_script_seen(
            program_id=program_id, origin=_origin(), at=clock.now(), at_most_every=_SCRIPT_EVERY
        )
    _remember("script", program_id, _SCRIPT_EVERY)


def uuid_from_text(program: str | None) -> UUID | None:
    """Return the id in a text, or None."""
    try:
        return UUID(program) if program else None
    except ValueError:
        return None


def clear_cache() -> None:
    """Clear the cache of sightings: between tests."""
    with _lock:
        _cached_until.clear()


def _origin() -> str | None:
    """Return the origin of the requesting page, from its Origin or Referer header."""
    header = request.headers.get("Origin")
    if header is None:
        try:
            parts = urlsplit(request.headers.get("Referer", ""))
        except ValueError:
            return None
        header = f"{parts.scheme}://{parts.netloc}"
    origin = header.lower()
    return origin if _ORIGIN.fullmatch(origin) else None


def _is_cached(kind: str, program_id: UUID) -> bool:
    return _cached_until.get((kind, program_id), 0.0) > time.monotonic()


def _remember(kind: str, program_id: UUID, span: timedelta) -> None:
    with _lock:
        if len(_cached_until) >= _CACHE_SIZE:
            _cached_until.clear()
        _cached_until[kind, program_id] = time.monotonic() + span.total_seconds()
