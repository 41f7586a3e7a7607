"""Where a slug leads, remembered for a few seconds: a campaign that is talked about has few links and many visitors.

Source: tracking spec, "Public click endpoint".
"""

import re
import threading
import time
from typing import NamedTuple

import settings
from domain import slugs
from models.clicks import public_links
from models.clicks.public_links import Link

# Past this many everything of its kind is forgotten. Guesses are kept apart: they must not push out what is real.
_MOST = 10_000
_LONGEST = 64

_PIXEL_KEY = re.compile(r"px_[A-Za-z0-9_-]{8,64}")


class SlugAddress(NamedTuple):
    """A slug as it was sent, and what says whose it is.

    `program` is a program's id or slug: an address that names one leads to that program alone. On a page with the tag
    of a program (`is_on_tag`) it is the id of that one, and the slug may be one of the same brand's other programs.
    `is_shared_bare` is an address that names no program. With the key of a web pixel the slug is one of the pixel's
    organization, whatever the program.
    """

    slug: str
    program: str | None = None
    is_on_tag: bool = False
    is_shared_bare: bool = False
    pixel_key: str | None = None


_known: dict[SlugAddress, tuple[float, Link]] = {}
_unknown: dict[SlugAddress, float] = {}
_lock = threading.Lock()


def find(sent: SlugAddress) -> Link | None:
    """Return where a slug leads (`models.clicks.public_links`), at most KEY_CACHE_S old.

    Runs in a transaction that sees every tenant; one in which nothing is asked costs nothing. Budget: 1 statement,
    none for a slug that this process was asked for within KEY_CACHE_S, or that nobody can have.
    """
    is_known, link = remembered(sent)
    address = _normalized(sent)
    if is_known or address is None:
        return link
    found = _look_up(address)
    _remember(address, found, time.monotonic() + settings.current().web.key_cache_s)
    return found


def remembered(sent: SlugAddress) -> tuple[bool, Link | None]:
    """Return whether the database need not be asked where a slug leads, and then where that is."""
    address = _normalized(sent)
    if address is None:
        return True, None
    now = time.monotonic()
    kept = _known.get(address)
    if kept is not None and kept[0] > now:
        return True, kept[1]
    return _unknown.get(address, 0.0) > now, None


def last_known(sent: SlugAddress) -> Link | None:
    """Return where a slug led when this process last asked, however long ago: for while the database is away."""
    address = _normalized(sent)
    kept = _known.get(address) if address else None
    return kept[1] if kept else None


def forget() -> None:
    """Forget every link: between tests."""
    with _lock:
        _known.clear()
        _unknown.clear()


def _normalized(sent: SlugAddress) -> SlugAddress | None:
    """Return an address with its slug as slugs are stored; None for one that nobody can have."""
    slug, program = slugs.read(sent.slug), sent.program
    if slug is None or (program is not None and (len(program) > _LONGEST or "\x00" in program)):
        return None
    if sent.pixel_key is None:
        return sent if slug == sent.slug else sent._replace(slug=slug)
    return SlugAddress(slug, pixel_key=sent.pixel_key) if _PIXEL_KEY.fullmatch(sent.pixel_key) else None


def _look_up(address: SlugAddress) -> Link | None:
    if address.pixel_key is not None:
        return public_links.any_org_find_by_pixel(slug=address.slug, public_key=address.pixel_key)
    program_id = public_links.program_id_from_text(address.program) if address.is_on_tag and address.program else None
    if program_id is not None:
        return public_links.any_org_find_by_tag(slug=address.slug, program_id=program_id)
    return public_links.any_org_find(slug=address.slug, program=address.program, is_shared_bare=address.is_shared_bare)


def _remember(address: SlugAddress, found: Link | None, until: float) -> None:
    with _lock:
        if found is None:
            _known.pop(address, None)
            if len(_unknown) >= _MOST:
                _unknown.clear()
            _unknown[address] = until
            return
        _unknown.pop(address, None)
        if len(_known) >= _MOST:
            _known.clear()
        _known[address] = (until, found)
