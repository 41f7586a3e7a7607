"""The slug of an imported affiliate: the former one where it is available, else a similar new one.

Source: core spec, "Affiliates" (import body, slug).
"""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from domain import slugs

Problem = Literal["slug_invalid", "slug_reserved"]

# Valid at other services and parsed in links here, with a letter in it: an order number is never a slug.
_ALIAS = re.compile(r"(?=.*[a-z])[a-z0-9][a-z0-9._-]{1,62}[a-z0-9]")
_NUMBERED = range(2, 6)
_FALLBACKS = 3
_FALLBACK_CHARACTERS = 8


@dataclass(frozen=True, slots=True)
class FormerSlug:
    """A slug that an affiliate had elsewhere. `problem`: why it cannot be a slug here, None where it can.

    `may_be_alias`: links that carry it can still be read.
    """

    text: str
    problem: Problem | None
    may_be_alias: bool


def check(text: str) -> FormerSlug:
    """Return a former slug (lower case) with the reason why it cannot be one here, if any."""
    if slugs.is_reserved(text):
        return FormerSlug(text, "slug_reserved", may_be_alias=False)
    if slugs.is_valid(text):
        return FormerSlug(text, None, may_be_alias=False)
    return FormerSlug(text, "slug_invalid", may_be_alias=_ALIAS.fullmatch(text) is not None)


def list_replacements(text: str, *, seed: str) -> list[str]:
    """Return slugs that can replace an unavailable one, the best first.

    They depend on the arguments alone, so that a preview equals the import. `seed` identifies the owner.
    """
    return [slug for slug in _candidates(text, seed) if slugs.is_valid_strict(slug) and not slugs.is_reserved(slug)]


def _candidates(text: str, seed: str) -> Iterator[str]:
    stem = slugs.simplify(text)
    if not slugs.is_reserved(text) and re.search("[a-z]", stem):
        yield stem
        yield from (f"{stem}-{number}" for number in _NUMBERED)
    for number in range(_FALLBACKS):
        digest = hashlib.sha256(f"{seed}\0{text}\0{number}".encode()).hexdigest()
        yield f"r{digest[: _FALLBACK_CHARACTERS - 1]}"
