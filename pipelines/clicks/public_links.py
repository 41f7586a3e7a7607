"""Finds the link of a slug, cached for a few seconds: a popular campaign has few links and many visitors.

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

# A full cache is cleared. Unknown addresses have a cache of their own: guesses must not push out real links.
_MAX_CACHED = 10_000
_MAX_PROGRAM = 64

_PIXEL_KEY = re.compile(r"px_[A-Za-z0-9_-]{8,64}")


class SlugAddress(NamedTuple):
    """A slug as it was sent, with what identifies its program or organization.

    `program` is a program's id or slug: an address that names one leads to that program alone. On a page with the tag
    of a program (`is_on_tag`) it is that program's id, and the slug may also belong to another program of the brand.
    `is_shared_bare`: only a link that is shared without a program counts. With the key of a web pixel the slug is one
    of the pixel's organization, whatever the program. `tokens` are the spellings as an old token, the slug included;
    none for a slug alone.
    """

    slug: str
    program: str | None = None
    is_on_tag: bool = False
    is_shared_bare: bool = False
    pixel_key: str | None = None
    tokens: tuple[str, ...] = ()


_links: dict[SlugAddress, tuple[float, Link]] = {}
_misses: dict[SlugAddress, float] = {}
_lock = threading.Lock()


def find(requested: SlugAddress) -> Link | None:
    """Return the link of a slug or old token (`models.clicks.public_links`), at most KEY_CACHE_S old.

    Runs in a transaction that sees every tenant; one without statements costs nothing. Budget: 1 statement, none for a
    slug that this process looked up within KEY_CACHE_S, or that cannot exist.
    """
    is_cached, link = find_cached(requested)
    address = _normalize(requested)
    if is_cached or address is None:
        return link
    link = _look_up(address)
    _cache(address, link, time.monotonic() + settings.current().web.key_cache_s)
    return link


def find_cached(requested: SlugAddress) -> tuple[bool, Link | None]:
    """Return whether a slug is cached, and its link; slugs that cannot exist count as cached."""
    address = _normalize(requested)
    if address is None:
        return True, None
    now = time.monotonic()
    entry = _links.get(address)
    if entry is not None and entry[0] > now:
        return True, entry[1]
    return _misses.get(address, 0.0) > now, None


def find_last_cached(requested: SlugAddress) -> Link | None:
    """Return the cached link of a slug, however old: for while the database is unavailable."""
    address = _normalize(requested)
    entry = _links.get(address) if address else None
    return entry[1] if entry else None


def clear_cache() -> None:
    """Clear the cache; for tests."""
    with _lock:
        _links.clear()
        _misses.clear()


def _normalize(requested: SlugAddress) -> SlugAddress | None:
    """Return an address with its slug as slugs are stored, empty without one; None for one that cannot exist."""
    slug, program = slugs.read(requested.slug), requested.program
    # Most addresses have a slug alone.
    tokens = () if slug == requested.slug else tuple(slugs.list_tokens(requested.slug))
    if (slug is None and not tokens) or (program is not None and (len(program) > _MAX_PROGRAM or "\x00" in program)):
        return None
    slug = slug or ""
    if requested.pixel_key is None:
        return requested._replace(slug=slug, tokens=tokens) if tokens else requested
    if not _PIXEL_KEY.fullmatch(requested.pixel_key):
        return None
    return SlugAddress(slug, pixel_key=requested.pixel_key, tokens=tokens)


def _look_up(address: SlugAddress) -> Link | None:
    tokens = address.tokens or (address.slug,)
    if address.pixel_key is not None:
        return public_links.any_org_find_by_pixel(slug=address.slug, tokens=tokens, public_key=address.pixel_key)
    program_id = public_links.program_id_from_text(address.program) if address.is_on_tag and address.program else None
    if program_id is not None:
        return public_links.any_org_find_by_tag(slug=address.slug, tokens=tokens, program_id=program_id)
    return public_links.any_org_find(
        slug=address.slug,
        tokens=tokens,
        program=address.program,
        is_shared_bare=address.is_shared_bare,
    )


def _cache(address: SlugAddress, link: Link | None, until: float) -> None:
    with _lock:
        if link is None:
            _links.pop(address, None)
            if len(_misses) >= _MAX_CACHED:
                _misses.clear()
            _misses[address] = until
            return
        _misses.pop(address, None)
        if len(_links) >= _MAX_CACHED:
            _links.clear()
        _links[address] = (until, link)
