"""The slugs and the channel tag that a payment carries.

They come from the buyer's browser, so they are only claims: slugs are looked up within the organization alone.
Source: tracking spec, "Attribution parameters", "Attribution method taxonomy" and section 8.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from domain import links, slugs
from domain.gateways.facts import Carrier

#: The key that an integrator uses in a gateway's metadata; it counts before the organization's parameters.
SLUG_KEY = "affiliate_slug"
TAG_KEYS = ("sub_id", "subId", "subid")

_AFTER_SLUG = re.compile(r"[?&#]")
_IS_ADDRESS = re.compile(r"/|[^?&=]*(?:://|/via/)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Claim:
    """A slug that a payment carries, and the attribution method of its credit."""

    slug: str
    method: str


def list_claims(carriers: Sequence[Carrier], parameters: Sequence[str]) -> Iterator[Claim]:
    """Yield the claims of the carriers in order of priority; `parameters` are the organization's.

    Keys and slugs are found in any case; a claim has the stored spelling. A slug ends at the first character that no
    slug contains (`domain.slugs.read`).
    """
    for carrier in carriers:
        for slug in links.slugs_from_fields(carrier.fields, (SLUG_KEY, *parameters)):
            yield Claim(slug, carrier.method)


def find_tag(carriers: Sequence[Carrier]) -> str | None:
    """Return the channel tag of the first carrier that has one, as it was sent."""
    for carrier in carriers:
        for key in TAG_KEYS:
            if carrier.fields.get(key):
                return carrier.fields[key]
    return None


def fields_from_query(text: str) -> dict[str, str]:
    """Return the fields of a text that is a query or a URL, without a slug before the query."""
    if _IS_ADDRESS.match(text):
        return links.fields_from_url(text)
    head, rest = _split(text)
    return links.fields_from_url(f"?{text if '=' in head else rest}")


def fields_from_text(text: str) -> dict[str, str]:
    """Return the fields of a text that is a URL, a query, or a slug, alone or before a query.

    Shops write their own numbers and words into such fields, so a slug followed by more words does not count.
    """
    head, rest = _split(text)
    slug = None if "=" in head or _IS_ADDRESS.match(text) else slugs.read_alone(head)
    if slug is None:
        return fields_from_query(text)
    # Before a query it may be the name of a page, so the query counts first.
    return {**fields_from_query(text), links.PATH_FIELD if rest else SLUG_KEY: slug}


def _split(text: str) -> tuple[str, str]:
    mark = _AFTER_SLUG.search(text)
    return (text[: mark.start()], text[mark.end() :]) if mark else (text, "")
