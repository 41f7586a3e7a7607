"""Affiliates who signed in apply to a program that they found in the network.

Source: core spec, "Program fields accepted on create or update", rule 5, and "Affiliate" (source Network).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from adapters.funding import registry
from domain.refusals import Refused
from domain.statuses import AffiliateSource, AffiliateStatus
from models.programs import network
from models.programs.network import NetworkApplicant
from pipelines.programs import networking
from pipelines.storefront import applying
from pipelines.storefront.applying import Filed


@dataclass(frozen=True, slots=True)
class Applied:
    """How somebody stands in a program after they applied; `filed` is None for who stood in it before."""

    status: str
    filed: Filed | None


def apply(
    *,
    organization_id: UUID,
    program_id: UUID,
    account_id: UUID | None,
    application: Mapping[str, Any],
    now: datetime,
) -> Applied:
    """Record an application through the network; whoever stands in the program already stays as they are.

    `application` is like `ApplicationBody` loaded, with the verified email of whoever applies and no recruiter; the
    rules are those of the public form. Whoever the brand has banned in one of its programs may not apply to another:
    they know of the ban, and are told no more.
    Raises Refused: 404 not_found for what affiliates do not see now; 403 affiliate_not_active; what `applying.apply`
    raises.
    """
    email = application["email"]
    before = _seeker(organization_id, program_id, account_id, email)
    if before is None:
        raise networking.not_listed()
    if before.status is not None:
        return Applied(before.status, None)
    if before.is_banned:
        raise Refused(403, "affiliate_not_active", "This brand takes no applications from you.")
    filed = applying.apply(
        organization_id=organization_id,
        program_id=program_id,
        application=application,
        source=AffiliateSource.Network,
        now=now,
    )
    if filed.affiliate is not None:
        return Applied(filed.affiliate.status, filed)
    # Somebody was faster: a twin of this request, whose outcome is this one's.
    after = _seeker(organization_id, program_id, account_id, email)
    return Applied((after and after.status) or AffiliateStatus.Pending, None)


def _seeker(organization_id: UUID, program_id: UUID, account_id: UUID | None, email: str) -> NetworkApplicant | None:
    return network.find_applicant(
        organization_id=organization_id,
        program_id=program_id,
        account_id=account_id,
        email=email,
        sandbox=registry.is_stood_in_for(),
    )
