"""The public landing page of a campaign, and the brand of a host."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from flask import current_app, request

import settings
from api.access import unknown_senders
from domain.organization import host_names
from domain.programs import terms_text
from domain.programs.terms_text import DescribedTerms
from domain.refusals import Refused
from models import db
from models.storefront import BrandHost, Landing
from pipelines.storefront import lookup
from schemas.storefront.lookup import landing_record

_BUCKET = "anonymous"
_DEFAULT_TEXTS: Mapping[str, Any] = {
    "headline": None,
    "intro": None,
    "sections": [],
    "accentColor": None,
    "showTerms": True,
    "heroImageUrl": None,
}


@dataclass(frozen=True, slots=True)
class LandingPage:
    """A campaign's page: the `record` of the storefront, its commission in sentences, and the brand's texts.

    `texts` is the complete `landingPageConfig`. `path` is the page's path at this service, `address` its public
    address: at the campaign's own domain if that is verified. The colour is the page's own, else the brand's.
    """

    record: Mapping[str, Any]
    earns: str
    texts: Mapping[str, Any]
    color: str | None
    path: str
    address: str

    @property
    def headline(self) -> str:
        """Return the headline of the page."""
        return str(self.texts["headline"] or self.record["name"])

    @property
    def about(self) -> str:
        """Return a summary of the page, for lists and link previews."""
        return str(self.texts["intro"] or self.record["description"] or self.earns)


@dataclass(frozen=True, slots=True)
class LandingPageResult:
    """The page of an open campaign; `is_renamed`: it was requested by a former slug."""

    page: LandingPage
    is_renamed: bool


def any_org_find(*, handle: str, campaign: str | None) -> LandingPageResult:
    """Return the page of an open campaign by the brand's handle and its slug, or of the brand's main campaign.

    Raises Refused 404 not_found. Budget: 1 statement.
    """
    with db.any_org_work():
        result = lookup.any_org_find_landing(handle=handle, campaign=campaign)
    landing = result.landing
    record = landing_record(landing, base_url=settings.current().web.url)
    page = build_page(
        record,
        earns=_terms_sentences(landing),
        color=landing.brand_color,
        handle=landing.handle,
        verified_domain=landing.verified_domain,
    )
    return LandingPageResult(page, result.is_renamed)


def build_page(
    record: Mapping[str, Any], *, earns: str, color: str | None, handle: str, verified_domain: str | None
) -> LandingPage:
    """Return a campaign's page from its `record` of the storefront."""
    texts = {**_DEFAULT_TEXTS, **record["landingPageConfig"]}
    path = f"/p/{handle}/{record['slug']}"
    return LandingPage(
        record=record,
        earns=earns,
        texts=texts,
        color=texts["accentColor"] or color,
        path=path,
        address=f"https://{verified_domain}/" if verified_domain else f"{settings.current().web.url}{path}",
    )


def any_org_find_brand_host() -> tuple[str, BrandHost] | None:
    """Return the request's host with its brand; None for the service's own host and for unknown hosts.

    A caller who often requests unknown hosts gets None without a look-up. Budget: 1 statement; none for the service's
    own host, for IP addresses, and for invalid host names. Raises Refused 429.
    """
    config = settings.current().web
    host = lookup.parse_host(request.host)
    if host is None or not host_names.is_host_name(host):
        return None
    if host in (urlsplit(config.url).hostname, config.portal_domain) or unknown_senders.is_blocked():
        return None
    with db.any_org_work():
        brand_host = lookup.any_org_find_by_host(host, portal_domain=config.portal_domain)
    if brand_host is None:
        unknown_senders.count_unknown()
        return None
    if not current_app.extensions["limiter"].allows(_BUCKET, unknown_senders.sender_network()):
        raise Refused(429)
    return host, brand_host


def _terms_sentences(landing: Landing) -> str:
    return terms_text.describe(
        DescribedTerms(
            model=landing.default_commission_model,
            rate_type=landing.default_commission_type,
            rate_value=landing.default_commission_value,
            rate_currency=landing.fee_currency,
            sale_commission_type=landing.sale_commission_type,
            sale_commission_value=landing.sale_commission_value,
            lead_bounty_cents=landing.lead_bounty_cents,
            lead_bounty_currency=landing.lead_bounty_currency,
            click_reward_cents=landing.click_reward_cents,
            click_reward_currency=landing.click_reward_currency,
            has_tiers=landing.has_tiers,
            recurring_months=landing.recurring_months,
            recurring_delay_invoices=landing.recurring_delay_invoices,
        )
    )
