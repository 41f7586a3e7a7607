"""What crawlers ask of a host: /robots.txt, and the sitemap of the campaigns that strangers may find.

The service's own host lists all of them, a brand's host its own. More than a sitemap may have are several, and then
/sitemap.xml is the list of these.
"""

from collections.abc import Sequence
from datetime import datetime
from xml.sax.saxutils import escape

from flask import Blueprint, Response

import settings
from api.access.guards import Guard
from api.edge.operations import operation, text
from api.storefront import landing_page, sitemap
from api.storefront.sitemap import SitemapEntry
from domain.refusals import Refused

blueprint = Blueprint("crawlers", __name__)

_LOOK = Guard(audience="public", bucket="anonymous")
_XML, _TEXT = "application/xml; charset=utf-8", "text/plain; charset=utf-8"
# An hour: a campaign that ends is gone from its own address at once.
_KEPT = {"Cache-Control": "public, max-age=3600", "Vary": "Host", "X-Content-Type-Options": "nosniff"}
_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'
_NAMESPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
_CLOSED = ("/api/", "/console", "/dashboard", "/door/", "/embed/", "/invites/", "/lead/", "/portal", "/r/", "/sign-in")


@blueprint.get("/robots.txt")
@operation(_LOOK, text("text/plain"), is_described=False)
def show_robots() -> Response:
    """Say what is for people alone, and where the sitemap of this host is. Budget: 1 statement, none at our own."""
    at = landing_page.any_org_find_brand_host()
    base = settings.current().web.url if at is None else f"https://{at[0]}"
    lines = ["User-agent: *", *(f"Disallow: {path}" for path in _CLOSED), "", f"Sitemap: {base}/sitemap.xml", ""]
    return Response("\n".join(lines), content_type=_TEXT, headers=_KEPT)


@blueprint.get("/sitemap.xml")
@operation(_LOOK, text("application/xml"), is_described=False)
def show_sitemap() -> Response:
    """List the campaigns of this host that strangers may find, or the sitemaps that do. Budget: 2 statements."""
    at = landing_page.any_org_find_brand_host()
    if at is not None:
        return _listing(sitemap.any_org_list_entries_of_host(*at))
    number = sitemap.any_org_count_sitemaps()
    if number == 1:
        return _listing(sitemap.any_org_list_entries(1))
    base = settings.current().web.url
    named = "".join(f"<sitemap><loc>{base}/sitemap-{page}.xml</loc></sitemap>\n" for page in range(1, number + 1))
    return _xml(f"<sitemapindex {_NAMESPACE}>\n{named}</sitemapindex>\n")


@blueprint.get("/sitemap-<int:page>.xml")
@operation(_LOOK, text("application/xml"), is_described=False)
def show_sitemap_page(page: int) -> Response:
    """List one page of the campaigns of the service that strangers may find. Budget: 2 statements."""
    listed = [] if landing_page.any_org_find_brand_host() else sitemap.any_org_list_entries(page)
    if not listed:
        raise Refused(404, "not_found", "There is no such address.")
    return _listing(listed)


def _listing(campaigns: Sequence[SitemapEntry]) -> Response:
    named = "".join(
        f"<url><loc>{escape(one.address)}</loc><lastmod>{_day(one.changed_at)}</lastmod></url>\n" for one in campaigns
    )
    return _xml(f"<urlset {_NAMESPACE}>\n{named}</urlset>\n")


def _day(at: datetime) -> str:
    return f"{at:%Y-%m-%d}"


def _xml(said: str) -> Response:
    return Response(_HEAD + said, content_type=_XML, headers=_KEPT)
