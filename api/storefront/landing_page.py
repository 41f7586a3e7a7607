"""What the landing page of a campaign shows to strangers, and whose page a host is."""

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
_NO_WORDS: Mapping[str, Any] = {
    "headline": None,
    "intro": None,
    "sections": [],
    "accentColor": None,
    "showTerms": True,
    "heroImageUrl": None,
}


@dataclass(frozen=True, slots=True)
class LandingPage:
    """A campaign's page: the `record` of the storefront, what it earns in sentences, and what its brand says there.

    `said` has every word of `landingPageConfig`. `path` is where the page is at this service, `address` where it is
    for everybody: at the campaign's own domain if that is verified. The colour is the page's own, else the brand's.
    """

    record: Mapping[str, Any]
    earns: str
    said: Mapping[str, Any]
    color: str | None
    path: str
    address: str

    @property
    def headline(self) -> str:
        """What stands at the head of the page."""
        return str(self.said["headline"] or self.record["name"])

    @property
    def about(self) -> str:
        """What the page is about in a sentence, for those who list or share it."""
        return str(self.said["intro"] or self.record["description"] or self.earns)


@dataclass(frozen=True, slots=True)
class FoundPage:
    """The page of an open campaign; `is_renamed` says that it was asked for by a slug that it has no more."""

    page: LandingPage
    is_renamed: bool


def any_org_find(*, handle: str, campaign: str | None) -> FoundPage:
    """Return the page of an open campaign by the brand's handle and its slug, or of the brand's main campaign.

    Raises Refused 404 not_found. Budget: 1 statement.
    """
    with db.any_org_work():
        found = lookup.any_org_landing(handle=handle, campaign=campaign)
    landing = found.landing
    shown = landing_record(landing, base_url=settings.current().web.url)
    page = of(
        shown,
        earns=_earns(landing),
        color=landing.brand_color,
        handle=landing.handle,
        verified_domain=landing.verified_domain,
    )
    return FoundPage(page, found.is_renamed)


def of(
    record: Mapping[str, Any], *, earns: str, color: str | None, handle: str, verified_domain: str | None
) -> LandingPage:
    """Return a campaign's page by its `record` of the storefront."""
    said = {**_NO_WORDS, **record["landingPageConfig"]}
    path = f"/p/{handle}/{record['slug']}"
    return LandingPage(
        record=record,
        earns=earns,
        said=said,
        color=said["accentColor"] or color,
        path=path,
        address=f"https://{verified_domain}/" if verified_domain else f"{settings.current().web.url}{path}",
    )


def any_org_place() -> tuple[str, BrandHost] | None:
    """Return the host that this request names and what it stands for; None where it is the service's own or nobody's.

    Whoever names hosts that are nobody's is not looked for any more after a while. Budget: 1 statement; none for the
    service's own host, for addresses without a name, and for what cannot be a host. Raises Refused 429.
    """
    chosen = settings.current().web
    host = lookup.host_name(request.host)
    if host is None or not host_names.is_host_name(host):
        return None
    if host in (urlsplit(chosen.url).hostname, chosen.portal_domain) or unknown_senders.is_blocked():
        return None
    with db.any_org_work():
        place = lookup.any_org_place(host, portal_domain=chosen.portal_domain)
    if place is None:
        unknown_senders.count_unknown()
        return None
    if not current_app.extensions["limiter"].allows(_BUCKET, unknown_senders.sender_network()):
        raise Refused(429)
    return host, place


def _earns(landing: Landing) -> str:
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
