"""The slugs and the channel tag that a payment carries.

They come from the buyer's browser, so they are only claims: slugs are looked up within the organization alone.
Source: tracking spec, "Attribution parameters", "Attribution method taxonomy" and section 8.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from domain import links, slugs
from domain.gateways.facts import Carrier

#: The key that an integrator uses in a gateway's metadata; it counts before the organization's parameters.
SLUG_KEY = "affiliate_slug"
#: The key of a number that is a gateway's field alone. Shops write their own numbers there, so it is no token of a
#: former system.
NUMBER_KEY = "affiliate_slug_number"
TAG_KEYS = ("sub_id", "subId", "subid")

_AFTER_SLUG = re.compile(r"[?&#]")
_IS_ADDRESS = re.compile(r"/|[^?&=]*(?:://|/via/)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Claim:
    """A text that a payment carries, and the attribution method of its credit.

    `may_be`: a slug, a token of a former system, or either.
    """

    slug: str
    method: str
    may_be: Literal["slug", "token", "either"] = "either"


def list_claims(carriers: Sequence[Carrier], parameters: Sequence[str]) -> Iterator[Claim]:
    """Yield the claims of the carriers in order of priority; `parameters` are the organization's.

    Keys and slugs are found in any case; a claim has the stored spelling. A slug ends at the first character that no
    slug contains (`domain.slugs.read`); before it comes the whole text, which may be a token of a former system.
    """
    for carrier in carriers:
        number = carrier.fields.get(NUMBER_KEY)
        if number is not None:
            yield Claim(number, carrier.method, may_be="slug")
        for text in links.texts_from_fields(carrier.fields, (SLUG_KEY, *parameters)):
            slug = slugs.read(text)
            for token in slugs.list_spellings(text):
                if token != slug:
                    yield Claim(token, carrier.method, may_be="token")
            if slug is not None:
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
    key = links.PATH_FIELD if rest else NUMBER_KEY if slug.isdigit() else SLUG_KEY
    return {**fields_from_query(text), key: slug}


def _split(text: str) -> tuple[str, str]:
    mark = _AFTER_SLUG.search(text)
    return (text[: mark.start()], text[mark.end() :]) if mark else (text, "")
