"""Recruiting: who brought an applicant, which address a recruiter shares, and what recruits brought in.

Source: tracking spec, "Sub-affiliate recruiting" and "Apply-form recruiter binding".
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from urllib.parse import quote, urlencode
from uuid import UUID

import settings
from domain import emails, statuses
from domain.refusals import Refused
from models import storefront
from models.affiliates import recruits
from models.affiliates.recruits import Recruit, Seat
from models.programs.programs import Program


def recruiter_of(program: Program, *, reference: str | None, email: str) -> UUID | None:
    """Return the affiliate who recruited an applicant, or None: nobody, nobody Approved here, or the applicant.

    `reference` is an affiliate id, an account's slug or a link's slug, in lower case. The same person is who has the
    same normalized email or an account that the email belongs to.
    """
    if reference is None or not program.sub_affiliate_enabled:
        return None
    applicant = emails.normalize(email)
    found = recruits.find_recruiter(
        organization_id=program.organization_id,
        program_id=program.id,
        affiliate_id=_id(reference),
        slug=reference,
        applicant_normalized=applicant,
    )
    if found is None or found.is_applicants_account:
        return None
    own = {found.email_normalized, emails.normalize(found.account_email or "")}
    return None if applicant in own else found.id


def _id(reference: str) -> UUID | None:
    try:
        return UUID(reference)
    except ValueError:
        return None


def any_org_seat(*, program_id: UUID, account_id: UUID | None, email: str | None) -> Seat:
    """Return the caller's affiliate in a campaign; runs in a transaction that sees every tenant.

    Raises Refused without a body: 404 when the campaign is not theirs to see (unknown, archived, not joined), 403 when
    they are not Approved in it.
    """
    seat = recruits.any_org_seat(program_id=program_id, account_id=account_id, email=email)
    if seat is None:
        raise Refused(404)
    if seat.status != statuses.AffiliateStatus.Approved:
        raise Refused(403)
    return seat


@dataclass(frozen=True, slots=True)
class Invitation:
    """What an affiliate shares to recruit."""

    affiliate_id: UUID
    program_slug: str
    url: str


def invitation(*, organization_id: UUID, affiliate_id: UUID) -> Invitation:
    """Return the address that an affiliate shares: the brand's portal for the campaign, naming them as the recruiter.

    They are named by their account's slug, else their default link's, else their id. The portal is at the host that
    was set for the brand, else the campaign's verified domain, else the brand's subdomain of PORTAL_DOMAIN.
    Raises Refused: 400 sub_affiliate_recruiting_disabled; 409 portal_not_configured.
    """
    facts = storefront.portal(organization_id=organization_id, affiliate_id=affiliate_id)
    if not facts.is_recruiting:
        raise Refused(400, "sub_affiliate_recruiting_disabled", "This program does not pay for recruiting.")
    host = facts.portal_host or facts.custom_domain or _branded_host(facts.subdomain)
    if host is None:
        raise Refused(409, "portal_not_configured", "This brand has no public portal yet.")
    token = facts.account_slug or facts.link_slug or str(affiliate_id)
    url = f"https://{host}/{quote(facts.program_slug, safe='')}?{urlencode({'recruited_by': token})}"
    return Invitation(affiliate_id, facts.program_slug, url)


def _branded_host(subdomain: str | None) -> str | None:
    domain = settings.current().web.portal_domain
    return f"{subdomain}.{domain}" if subdomain and domain else None


@dataclass(frozen=True, slots=True)
class Held:
    """Minor units of a currency that no fresh rate could value."""

    commission_cents: int
    override_cents: int


@dataclass(slots=True)
class Sums:
    """What a recruit earned and what the recruiter earned by them, net, in the organization's home currency.

    `held` maps a currency to what is left out of both.
    """

    commission_cents: int = 0
    override_cents: int = 0
    held: dict[str, Held] = field(default_factory=dict)


def sums(found: Sequence[Recruit]) -> dict[UUID, Sums]:
    """Return what came of each recruit; money of another currency at the rate of the day of its sale."""
    totals = {recruit.id: Sums() for recruit in found}
    for row in recruits.earned(found) if found else ():
        total = totals[row.recruit_id]
        total.commission_cents += row.commission_cents
        total.override_cents += row.override_cents
        if row.held_commission_cents or row.held_override_cents:
            total.held[row.currency] = Held(row.held_commission_cents, row.held_override_cents)
    return totals
