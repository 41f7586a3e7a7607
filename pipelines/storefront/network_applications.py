"""Records applications of signed-in affiliates to programs of the network.

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
from pipelines.programs import network_listing
from pipelines.storefront import applications
from pipelines.storefront.applications import FiledApplication


@dataclass(frozen=True, slots=True)
class NetworkApplication:
    """The status of an affiliate in a program after they applied; `filed` is None where they were in it before."""

    status: str
    filed: FiledApplication | None


def apply(
    *,
    organization_id: UUID,
    program_id: UUID,
    account_id: UUID | None,
    application: Mapping[str, Any],
    now: datetime,
) -> NetworkApplication:
    """Record an application through the network; an affiliate of the program keeps their status.

    `application` is like `ApplicationBody` loaded, with the verified email of the applicant and no recruiter; the rules
    are those of the public form. An affiliate who is banned in one of the brand's programs may not apply to another;
    they know of the ban, so the answer reveals nothing new.
    Raises Refused: 404 not_found for a program that affiliates cannot see now; 403 affiliate_not_active; as
    `applications.apply`.
    """
    email = application["email"]
    before = _find_seeker(organization_id, program_id, account_id, email)
    if before is None:
        raise network_listing.not_listed_refusal()
    if before.status is not None:
        return NetworkApplication(before.status, None)
    if before.is_banned:
        raise Refused(403, "affiliate_not_active", "This brand does not accept applications from you.")
    filed = applications.apply(
        organization_id=organization_id,
        program_id=program_id,
        application=application,
        source=AffiliateSource.Network,
        now=now,
    )
    if filed.affiliate is not None:
        return NetworkApplication(filed.affiliate.status, filed)
    # A concurrent copy of this request was faster; its outcome is the outcome of this one.
    after = _find_seeker(organization_id, program_id, account_id, email)
    return NetworkApplication((after and after.status) or AffiliateStatus.Pending, None)


def _find_seeker(
    organization_id: UUID, program_id: UUID, account_id: UUID | None, email: str
) -> NetworkApplicant | None:
    return network.find_applicant(
        organization_id=organization_id,
        program_id=program_id,
        account_id=account_id,
        email=email,
        sandbox=registry.is_replaced_by_sandbox(),
    )
