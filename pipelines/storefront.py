"""Strangers apply to a campaign. Whatever the outcome, they are told the same.

Source: tracking spec, "Public storefront" (apply) and "Apply-form recruiter binding".
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from domain import emails, statuses
from domain.refused import Refused
from models import affiliates, programs
from pipelines import affiliates as affiliate_rules

_EVENT_SOURCE = "public_apply"


@dataclass(frozen=True, slots=True)
class Door:
    """Which organization a campaign belongs to, and whether the applicant is an affiliate somewhere already."""

    organization_id: UUID
    has_account: bool


def any_org_door(*, program_id: UUID, email: str) -> Door:
    """Find the organization of a campaign; runs in a transaction that sees every tenant.

    Raises Refused 404 not_found.
    """
    organization_id = programs.any_org_owner(program_id)
    if organization_id is None:
        raise _not_open()
    has_account = affiliates.any_org_has_account(email=email, program_id=program_id)
    return Door(organization_id=organization_id, has_account=has_account)


def apply(*, organization_id: UUID, program_id: UUID, application: Mapping[str, Any], now: datetime) -> None:
    """Record an application; one that is there already stays as it is.

    `application` is `schemas.application.ApplicationBody` loaded. The alias is looked at before the applicant is, so
    that no answer depends on who applied before.
    Raises Refused: 404 not_found for a campaign that is not open; 409 alias_already_taken.
    """
    program = programs.find_open(organization_id=organization_id, program_id=program_id)
    if program is None:
        raise _not_open()
    email, alias = application["email"], application["alias"]
    affiliates.stage_person_turn(organization_id=organization_id, email=email)
    if alias is not None:
        affiliate_rules.check_alias(organization_id=organization_id, alias=alias, email=email)
    if affiliates.find_by_email(organization_id=organization_id, program_id=program_id, email=email):
        return
    affiliate_rules.join(_columns(program, application), alias=alias, event_source=_EVENT_SOURCE, now=now)


def _not_open() -> Refused:
    return Refused(404, "not_found", "There is no such program, or it takes no applications.")


def _columns(program: programs.Program, application: Mapping[str, Any]) -> dict[str, Any]:
    status = statuses.AffiliateStatus.Approved if program.auto_approve else statuses.AffiliateStatus.Pending
    return {
        "organization_id": program.organization_id,
        "program_id": program.id,
        "email": application["email"],
        "full_name": application["full_name"],
        "status": status.value,
        "source": statuses.AffiliateSource.Public.value,
        "application_data": application["answers"] or None,
        "recruited_by_affiliate_id": _recruiter_id(program, application),
    }


def _recruiter_id(program: programs.Program, application: Mapping[str, Any]) -> UUID | None:
    if application["recruiter"] is None or not program.sub_affiliate_enabled:
        return None
    recruiter = affiliates.find_recruiter(
        organization_id=program.organization_id, program_id=program.id, reference=application["recruiter"]
    )
    if recruiter is None or recruiter.email_normalized == emails.normalize(application["email"]):
        return None
    found: UUID = recruiter.id
    return found
