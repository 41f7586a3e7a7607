"""Which campaign a public address stands for.

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
class Found:
    """A campaign; `is_renamed` says that it was asked for by a slug that it has no more."""

    landing: Landing
    is_renamed: bool


def any_org_landing(*, handle: str, campaign: str | None) -> Found:
    """Return the open campaign of a handle, by its slug or without one the main campaign.

    An invite-only campaign is shown as well: its links need a page to lead to.
    Raises Refused 404 not_found. Budget: 1 statement.
    """
    known_handle, slug = _label(handle), _label(campaign) if campaign is not None else None
    if known_handle is None or (campaign is not None and slug is None):
        raise _nothing()
    landing = storefront.any_org_find_landing(handle=known_handle, slug=slug)
    if landing is None:
        raise _nothing()
    return Found(landing, is_renamed=slug is not None and slug != landing.slug)


def any_org_domain(host: str) -> Address:
    """Return handle and campaign slug of a verified custom domain, in any case, with or without port and trailing dot.

    Raises Refused 404 not_found. Budget: 1 statement.
    """
    named = host_name(host)
    found = storefront.any_org_find_by_domain(named) if named else None
    if found is None:
        raise Refused(404, "not_found", "This is not a verified custom domain.")
    return found


def any_org_place(host: str, *, portal_domain: str | None) -> BrandHost | None:
    """Return what a host stands for, None for one that is no brand's; `host` is as `host_name` gives it.

    `portal_domain` is the domain whose subdomains are the brands'. Budget: 1 statement.
    """
    handle = host.removesuffix(f".{portal_domain}") if portal_domain else host
    return storefront.any_org_find_by_host(host=host, handle=_label(handle) if handle != host else None)


def host_name(sent: str) -> str | None:
    """Return a host that a request names in lower case, without port and trailing dot; None for what is no host."""
    named = _HOST.fullmatch(sent.lower()) if sent.isascii() else None
    return named[1] if named else None


def _label(text: str) -> str | None:
    # Some letters outside ASCII have an ASCII letter as their lower case, so they are sent away first.
    lowered = text.lower() if text.isascii() else ""
    return lowered if _LABEL.fullmatch(lowered) else None


def _nothing() -> Refused:
    return Refused(404, "not_found", "There is no open campaign at this address.")
