"""Recruitment: an applicant's recruiter, the address that a recruiter shares, and what recruits earned.

Source: tracking spec, "Sub-affiliate recruiting" and "Apply-form recruiter binding".
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from urllib.parse import quote, urlencode
from uuid import UUID

import settings
from domain import emails, slugs, statuses
from domain.refusals import Refused
from models import storefront
from models.affiliates import recruits
from models.affiliates.recruits import CallerAffiliate, Recruit
from models.programs.programs import Program


def find_recruiter(program: Program, *, reference: str | None, email: str) -> UUID | None:
    """Return the affiliate who recruited an applicant; None without one who is Approved and not the applicant.

    `reference` is an affiliate id, an account's slug or a link's slug, in lower case; what chats and mail programs add
    to a link is ignored (`domain.slugs.read`). Two are the same person if they have the same normalized email, or an
    account that the email belongs to.
    """
    if reference is None or not program.sub_affiliate_enabled:
        return None
    reference = slugs.read(reference) or reference
    applicant = emails.normalize(email)
    recruiter = recruits.find_recruiter(
        organization_id=program.organization_id,
        program_id=program.id,
        affiliate_id=_id_from_text(reference),
        slug=reference,
        applicant_normalized=applicant,
    )
    if recruiter is None or recruiter.is_applicants_account:
        return None
    recruiter_emails = {recruiter.email_normalized, emails.normalize(recruiter.account_email or "")}
    return None if applicant in recruiter_emails else recruiter.id


def _id_from_text(reference: str) -> UUID | None:
    try:
        return UUID(reference)
    except ValueError:
        return None


def any_org_find_seat(*, program_id: UUID, account_id: UUID | None, email: str | None) -> CallerAffiliate:
    """Return the caller's affiliate in a campaign; runs in a transaction that sees every tenant.

    Raises Refused without a body: 404 if the caller may not see the campaign (unknown, archived, not joined), 403 if
    they are not Approved in it.
    """
    seat = recruits.any_org_find_caller_affiliate(program_id=program_id, account_id=account_id, email=email)
    if seat is None:
        raise Refused(404)
    if seat.status != statuses.AffiliateStatus.Approved:
        raise Refused(403)
    return seat


@dataclass(frozen=True, slots=True)
class Invitation:
    """The address that an affiliate shares to recruit."""

    affiliate_id: UUID
    program_slug: str
    url: str


def create_invitation(*, organization_id: UUID, affiliate_id: UUID) -> Invitation:
    """Return the address that an affiliate shares: the brand's portal for the campaign with them as the recruiter.

    The recruiter is identified by the account's slug, else the default link's, else the id. The portal's host is the
    brand's own host, else the campaign's verified domain, else the brand's subdomain of PORTAL_DOMAIN.
    Raises Refused: 400 sub_affiliate_recruiting_disabled; 409 portal_not_configured.
    """
    portal = storefront.find_portal(organization_id=organization_id, affiliate_id=affiliate_id)
    if not portal.is_recruiting:
        raise Refused(400, "sub_affiliate_recruiting_disabled", "This program does not pay for recruiting.")
    host = portal.portal_host or portal.custom_domain or _branded_host(portal.subdomain)
    if host is None:
        raise Refused(409, "portal_not_configured", "This brand has no public portal yet.")
    token = portal.account_slug or portal.link_slug or str(affiliate_id)
    url = f"https://{host}/{quote(portal.program_slug, safe='')}?{urlencode({'recruited_by': token})}"
    return Invitation(affiliate_id, portal.program_slug, url)


def _branded_host(subdomain: str | None) -> str | None:
    domain = settings.current().web.portal_domain
    return f"{subdomain}.{domain}" if subdomain and domain else None


@dataclass(frozen=True, slots=True)
class UnvaluedEarnings:
    """Minor units of a currency that has no fresh rate."""

    commission_cents: int
    override_cents: int


@dataclass(slots=True)
class RecruitTotals:
    """Net earnings of a recruit, and of the recruiter from them, in the organization's home currency.

    `unvalued` maps a currency to the amounts that are missing from both.
    """

    commission_cents: int = 0
    override_cents: int = 0
    unvalued: dict[str, UnvaluedEarnings] = field(default_factory=dict)


def sum_earnings(recruited: Sequence[Recruit]) -> dict[UUID, RecruitTotals]:
    """Return the earnings of each recruit; other currencies are converted at the rate of the day of the sale."""
    totals = {recruit.id: RecruitTotals() for recruit in recruited}
    for row in recruits.sum_earnings(recruited) if recruited else ():
        total = totals[row.recruit_id]
        total.commission_cents += row.commission_cents
        total.override_cents += row.override_cents
        if row.held_commission_cents or row.held_override_cents:
            total.unvalued[row.currency] = UnvaluedEarnings(row.held_commission_cents, row.held_override_cents)
    return totals
