"""The public campaigns with their addresses, for sitemaps."""

from datetime import datetime
from typing import NamedTuple

import settings
from models import db, storefront
from models.storefront import BrandHost

#: The protocol's own limit of one sitemap.
MAX_ENTRIES = 50_000
_MAX_PAGES = 1000


class SitemapEntry(NamedTuple):
    """The address of a campaign's page, and the time of the campaign's last change."""

    address: str
    changed_at: datetime


def any_org_count_sitemaps() -> int:
    """Return the number of sitemaps, at least 1. Budget: 1 statement."""
    with db.any_org_work():
        number = storefront.any_org_count_discoverable()
    return max(1, -(-number // MAX_ENTRIES))


def any_org_list_entries(page: int) -> list[SitemapEntry]:
    """Return the entries of a sitemap, counted from 1; none for a missing sitemap. Budget: 1 statement."""
    if not 1 <= page <= _MAX_PAGES:
        return []
    base = settings.current().web.url
    with db.any_org_work():
        rows = storefront.any_org_list_discoverable(after=(page - 1) * MAX_ENTRIES, limit=MAX_ENTRIES)
    return [SitemapEntry(f"{base}/p/{row.handle}/{row.slug}", row.updated_at) for row in rows]


def any_org_list_entries_of_host(host: str, brand_host: BrandHost) -> list[SitemapEntry]:
    """Return the entries of a brand's host: one for the own domain of a campaign, else all campaigns of the brand.

    Budget: 1 statement.
    """
    with db.any_org_work():
        rows = storefront.any_org_list_discoverable_of_brand(
            handle=brand_host.handle, slug=brand_host.slug, limit=MAX_ENTRIES
        )
    return [
        SitemapEntry(f"https://{host}/{'' if brand_host.slug is not None else row.slug}", row.updated_at)
        for row in rows
    ]
