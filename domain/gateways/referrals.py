"""Finds the slugs and the channel tag that a payment carries.

A buyer's browser put them there, so they are claims: a slug is looked up in the organization alone.
Source: tracking spec, "Attribution parameters", "Attribution method taxonomy" and section 8.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from domain import links, slugs
from domain.gateways.facts import Carrier

#: The name that an integrator writes into a gateway's metadata; it counts before the organization's parameters.
SLUG_KEY = "affiliate_slug"
TAG_KEYS = ("sub_id", "subId", "subid")

_BEHIND_SLUG = re.compile(r"[?&#]")
_IS_ADDRESS = re.compile(r"/|[^?&=]*(?:://|/via/)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Claim:
    """A slug that a payment carries, and the method by which it credits its affiliate."""

    slug: str
    method: str


def claims(carriers: Sequence[Carrier], parameters: Sequence[str]) -> Iterator[Claim]:
    """Yield the claims of the carriers, in the order in which they count; `parameters` are the organization's.

    Keys and slugs are found in any case; a claim has them as slugs are kept. A slug is read up to the first character
    that none can have (`domain.slugs.read`).
    """
    for carrier in carriers:
        for slug in links.slugs_of(carrier.fields, (SLUG_KEY, *parameters)):
            yield Claim(slug, carrier.method)


def tag(carriers: Sequence[Carrier]) -> str | None:
    """Return the channel tag of the first carrier that has one, as it was sent."""
    for carrier in carriers:
        for key in TAG_KEYS:
            if carrier.fields.get(key):
                return carrier.fields[key]
    return None


def of_query(text: str) -> dict[str, str]:
    """Return the fields of a text that is a query or an address, without a slug in front of the query."""
    if _IS_ADDRESS.match(text):
        return links.fields_of(text)
    head, rest = _split(text)
    return links.fields_of(f"?{text if '=' in head else rest}")


def of_text(text: str) -> dict[str, str]:
    """Return the fields of a text that is an address, a query, or a slug, alone or in front of a query.

    Shops write numbers and words of their own into such fields, so a slug with more words behind it does not count.
    """
    head, rest = _split(text)
    slug = None if "=" in head or _IS_ADDRESS.match(text) else slugs.read_alone(head)
    if slug is None:
        return of_query(text)
    # In front of a query it may be the name of a page, so the query counts first.
    return {**of_query(text), links.PATH_FIELD if rest else SLUG_KEY: slug}


def _split(text: str) -> tuple[str, str]:
    mark = _BEHIND_SLUG.search(text)
    return (text[: mark.start()], text[mark.end() :]) if mark else (text, "")
