"""Finds the slugs and the channel tag that a payment carries.

A buyer's browser put them there, so they are claims: whom a slug leads to is looked up in the organization alone.
Source: tracking spec, "Attribution parameters", "Attribution method taxonomy" and section 8.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlsplit

from domain.gateways.facts import Carrier

#: What an integrator writes into a gateway's metadata; it counts before the organization's parameters.
SLUG_KEY = "affiliate_slug"
TAG_KEYS = ("sub_id", "subId", "subid")

_SLUG = re.compile(r"[A-Za-z0-9._-]{1,64}")
_MOST_PARAMETERS = 100


@dataclass(frozen=True, slots=True)
class Claim:
    """A slug that a payment carries, and the method by which it credits somebody."""

    slug: str
    method: str


def claims(carriers: Sequence[Carrier], parameters: Sequence[str]) -> Iterator[Claim]:
    """Yield what the carriers claim, in the order in which it counts; `parameters` are the organization's.

    Keys and slugs are found in any case; a claim has them as slugs are kept. What could not be a slug is passed over.
    """
    for carrier in carriers:
        fields = {name.lower(): value.strip() for name, value in carrier.fields.items()}
        for key in (SLUG_KEY, *parameters):
            if is_slug(slug := fields.get(key, "")):
                yield Claim(slug.lower(), carrier.method)


def is_slug(text: str) -> bool:
    """Say whether a text could be a slug."""
    return _SLUG.fullmatch(text) is not None


def tag(carriers: Sequence[Carrier]) -> str | None:
    """Return the channel tag of the first carrier that has one, as it was sent."""
    for carrier in carriers:
        for key in TAG_KEYS:
            if carrier.fields.get(key):
                return carrier.fields[key]
    return None


def of_address(address: object) -> Mapping[str, str]:
    """Return the query of an address or of a path (`/products/mug?via=anna`); the first of equal names counts."""
    if not isinstance(address, str):
        return {}
    try:
        pairs = parse_qsl(urlsplit(address).query, max_num_fields=_MOST_PARAMETERS)
    except ValueError:
        return {}
    return dict(reversed(pairs))
