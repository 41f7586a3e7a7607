"""Where a slug leads, remembered for a few seconds: a campaign that is talked about has few links and many visitors.

Source: tracking spec, "Public click endpoint".
"""

import re
import threading
import time

import settings
from models.clicks import public_links
from models.clicks.public_links import Link

# Past this many everything of its kind is forgotten. Guesses are kept apart: they must not push out what is real.
_MOST = 10_000
_LONGEST = 64

_SLUG = re.compile(r"[a-z0-9._-]{1,64}")
_PIXEL_KEY = re.compile(r"px_[A-Za-z0-9_-]{8,64}")

_Name = tuple[str, str | None, bool, str | None]  # slug, program, is_shared_bare, key of a web pixel

_known: dict[_Name, tuple[float, Link]] = {}
_unknown: dict[_Name, float] = {}
_lock = threading.Lock()


def find(slug: str, program: str | None, *, is_shared_bare: bool = False, pixel_key: str | None = None) -> Link | None:
    """Return where a slug leads (`models.clicks.public_links.any_org_find`), at most KEY_CACHE_S old.

    With the key of a web pixel it is sought in the pixel's organization alone, whatever the program.

    Runs in a transaction that sees every tenant; one in which nothing is asked costs nothing. Budget: 1 statement,
    none for a slug that this process was asked for within KEY_CACHE_S, or that nobody can have.
    """
    is_known, link = remembered(slug, program, is_shared_bare=is_shared_bare, pixel_key=pixel_key)
    name = _name(slug, program, is_shared_bare, pixel_key)
    if is_known or name is None:
        return link
    if pixel_key is None:
        found = public_links.any_org_find(slug=name[0], program=name[1], is_shared_bare=is_shared_bare)
    else:
        found = public_links.any_org_find_of_pixel(slug=name[0], public_key=pixel_key)
    _remember(name, found, time.monotonic() + settings.current().web.key_cache_s)
    return found


def remembered(
    slug: str, program: str | None, *, is_shared_bare: bool = False, pixel_key: str | None = None
) -> tuple[bool, Link | None]:
    """Return whether the database need not be asked where a slug leads, and then where that is."""
    name = _name(slug, program, is_shared_bare, pixel_key)
    if name is None:
        return True, None
    now = time.monotonic()
    kept = _known.get(name)
    if kept is not None and kept[0] > now:
        return True, kept[1]
    return _unknown.get(name, 0.0) > now, None


def last_known(
    slug: str, program: str | None, *, is_shared_bare: bool = False, pixel_key: str | None = None
) -> Link | None:
    """Return where a slug led when this process last asked, however long ago: for while the database is away."""
    name = _name(slug, program, is_shared_bare, pixel_key)
    kept = _known.get(name) if name else None
    return kept[1] if kept else None


def forget() -> None:
    """Forget every link: between tests."""
    with _lock:
        _known.clear()
        _unknown.clear()


def _name(slug: str, program: str | None, is_shared_bare: bool, pixel_key: str | None) -> _Name | None:
    lowered = slug.strip().lower()
    if not _SLUG.fullmatch(lowered) or (program is not None and (len(program) > _LONGEST or "\x00" in program)):
        return None
    if pixel_key is None:
        return lowered, program, is_shared_bare, None
    return (lowered, None, False, pixel_key) if _PIXEL_KEY.fullmatch(pixel_key) else None


def _remember(name: _Name, found: Link | None, until: float) -> None:
    with _lock:
        if found is None:
            _known.pop(name, None)
            if len(_unknown) >= _MOST:
                _unknown.clear()
            _unknown[name] = until
            return
        _unknown.pop(name, None)
        if len(_known) >= _MOST:
            _known.clear()
        _known[name] = (until, found)
