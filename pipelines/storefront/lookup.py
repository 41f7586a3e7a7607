"""Finds the campaign of a public URL.

Source: tracking spec, "Public storefront" and "Public storefront program".
"""

import re
from dataclasses import dataclass

from domain.refusals import Refused
from models import storefront
from models.storefront import Address, BrandHost, Landing

_LABEL = re.compile(r"\A[a-z0-9-]{1,64}\Z")
_HOST = re.compile(r"\A([a-z0-9.-]{1,253}?)\.?(?::[0-9]{0,5})?\Z")


@dataclass(frozen=True, slots=True)
class CampaignMatch:
    """A campaign; `is_renamed`: it was requested by a former slug."""

    landing: Landing
    is_renamed: bool


def any_org_find_landing(*, handle: str, campaign: str | None) -> CampaignMatch:
    """Return the open campaign of a handle by its slug; without a slug the main campaign.

    An invite-only campaign is returned as well: its links need a landing page.
    Raises Refused 404 not_found. Budget: 1 statement.
    """
    handle_label, slug = _parse_label(handle), _parse_label(campaign) if campaign is not None else None
    if handle_label is None or (campaign is not None and slug is None):
        raise _not_found()
    landing = storefront.any_org_find_landing(handle=handle_label, slug=slug)
    if landing is None:
        raise _not_found()
    return CampaignMatch(landing, is_renamed=slug is not None and slug != landing.slug)


def any_org_find_by_domain(host: str) -> Address:
    """Return handle and campaign slug of a verified custom domain; case, port and trailing dot do not matter.

    Raises Refused 404 not_found. Budget: 1 statement.
    """
    name = parse_host(host)
    address = storefront.any_org_find_by_domain(name) if name else None
    if address is None:
        raise Refused(404, "not_found", "This is not a verified custom domain.")
    return address


def any_org_find_by_host(host: str, *, portal_domain: str | None) -> BrandHost | None:
    """Return the brand that a host belongs to, None for another host; `host` is as `parse_host` returns it.

    `portal_domain` is the domain whose subdomains belong to brands. Budget: 1 statement.
    """
    handle = host.removesuffix(f".{portal_domain}") if portal_domain else host
    return storefront.any_org_find_by_host(host=host, handle=_parse_label(handle) if handle != host else None)


def parse_host(text: str) -> str | None:
    """Return the host of a request in lower case, without port and trailing dot; None for an invalid host."""
    match = _HOST.fullmatch(text.lower()) if text.isascii() else None
    return match[1] if match else None


def _parse_label(text: str) -> str | None:
    # Some letters outside ASCII have an ASCII letter as their lower case, so they are rejected first.
    lowered = text.lower() if text.isascii() else ""
    return lowered if _LABEL.fullmatch(lowered) else None


def _not_found() -> Refused:
    return Refused(404, "not_found", "There is no open program at this address.")
