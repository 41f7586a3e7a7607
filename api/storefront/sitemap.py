"""The campaigns that strangers may find, with their addresses, as sitemaps list them."""

from datetime import datetime
from typing import NamedTuple

import settings
from models import db, storefront
from models.storefront import BrandHost

#: The protocol's own limit of one sitemap.
MAX_ENTRIES = 50_000
_MAX_PAGES = 1000


class SitemapEntry(NamedTuple):
    """Where a campaign's page is, and when the campaign was changed last."""

    address: str
    changed_at: datetime


def any_org_count_sitemaps() -> int:
    """Return how many sitemaps there are: 1 at least. Budget: 1 statement."""
    with db.any_org_work():
        number = storefront.any_org_count_discoverable()
    return max(1, -(-number // MAX_ENTRIES))


def any_org_list_entries(page: int) -> list[SitemapEntry]:
    """Return what stands in one sitemap, from 1 on; nothing in one that is not there. Budget: 1 statement."""
    if not 1 <= page <= _MAX_PAGES:
        return []
    base = settings.current().web.url
    with db.any_org_work():
        found = storefront.any_org_list_discoverable(after=(page - 1) * MAX_ENTRIES, limit=MAX_ENTRIES)
    return [SitemapEntry(f"{base}/p/{one.handle}/{one.slug}", one.updated_at) for one in found]


def any_org_list_entries_of_host(host: str, place: BrandHost) -> list[SitemapEntry]:
    """Return what a brand's host lists: its one campaign where it is a campaign's own, else all of the brand's.

    Budget: 1 statement.
    """
    with db.any_org_work():
        found = storefront.any_org_list_discoverable_of_brand(handle=place.handle, slug=place.slug, limit=MAX_ENTRIES)
    return [
        SitemapEntry(f"https://{host}/{'' if place.slug is not None else one.slug}", one.updated_at) for one in found
    ]
