"""Files for crawlers of a host: /robots.txt, and the sitemap of the public campaigns.

The service's own host lists all of them, a brand's host its own. Above the limit of a sitemap there are several, and
/sitemap.xml is their index.
"""

from collections.abc import Sequence
from xml.sax.saxutils import escape

from flask import Blueprint, Response

import settings
from api.access.guards import Guard
from api.edge.operations import operation, text
from api.storefront import landing_page, sitemap
from api.storefront.sitemap import SitemapEntry
from domain.refusals import Refused

blueprint = Blueprint("crawlers", __name__)

_READ = Guard(audience="public", bucket="anonymous")
_XML, _TEXT = "application/xml; charset=utf-8", "text/plain; charset=utf-8"
# An hour is enough: an ended campaign is gone from its own address at once.
_CACHE_HEADERS = {"Cache-Control": "public, max-age=3600", "Vary": "Host", "X-Content-Type-Options": "nosniff"}
_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'
_NAMESPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
_DISALLOWED = (
    "/api/",
    "/console",
    "/dashboard",
    "/door/",
    "/embed/",
    "/invites/",
    "/lead/",
    "/portal",
    "/r/",
    "/sign-in",
)


@blueprint.get("/robots.txt")
@operation(_READ, text("text/plain"), is_described=False)
def show_robots() -> Response:
    """Return the paths closed to crawlers, and this host's sitemap. Budget: 1 statement, none at the own host."""
    at = landing_page.any_org_find_brand_host()
    base = settings.current().web.url if at is None else f"https://{at[0]}"
    lines = ["User-agent: *", *(f"Disallow: {path}" for path in _DISALLOWED), "", f"Sitemap: {base}/sitemap.xml", ""]
    return Response("\n".join(lines), content_type=_TEXT, headers=_CACHE_HEADERS)


@blueprint.get("/sitemap.xml")
@operation(_READ, text("application/xml"), is_described=False)
def show_sitemap() -> Response:
    """List the public campaigns of this host, or the sitemaps with them. Budget: 2 statements."""
    at = landing_page.any_org_find_brand_host()
    if at is not None:
        return _sitemap_of(sitemap.any_org_list_entries_of_host(*at))
    number = sitemap.any_org_count_sitemaps()
    if number == 1:
        return _sitemap_of(sitemap.any_org_list_entries(1))
    base = settings.current().web.url
    sitemaps = "".join(f"<sitemap><loc>{base}/sitemap-{page}.xml</loc></sitemap>\n" for page in range(1, number + 1))
    return _xml_response(f"<sitemapindex {_NAMESPACE}>\n{sitemaps}</sitemapindex>\n")


@blueprint.get("/sitemap-<int:page>.xml")
@operation(_READ, text("application/xml"), is_described=False)
def show_sitemap_page(page: int) -> Response:
    """List one page of the service's public campaigns. Budget: 2 statements."""
    campaigns = [] if landing_page.any_org_find_brand_host() else sitemap.any_org_list_entries(page)
    if not campaigns:
        raise Refused(404, "not_found", "There is no such page.")
    return _sitemap_of(campaigns)


def _sitemap_of(campaigns: Sequence[SitemapEntry]) -> Response:
    urls = "".join(
        f"<url><loc>{escape(campaign.address)}</loc><lastmod>{campaign.changed_at:%Y-%m-%d}</lastmod></url>\n"
        for campaign in campaigns
    )
    return _xml_response(f"<urlset {_NAMESPACE}>\n{urls}</urlset>\n")


def _xml_response(xml: str) -> Response:
    return Response(_HEAD + xml, content_type=_XML, headers=_CACHE_HEADERS)
