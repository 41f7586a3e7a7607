"""Emails to affiliates about a brand's decision: approved, or application rejected."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

import settings
from models.organization import organizations
from models.organization.organizations import Organization
from models.programs import programs
from pipelines import mail


def notify_approved(*, organization_id: UUID, emails: Sequence[str], now: datetime) -> None:
    """Stage the approval email to affiliates of an organization."""
    brand = organizations.find(organization_id) if emails else None
    if brand is not None:
        stage_approved(brand, emails, now=now)


def stage_approved(brand: Organization, emails: Sequence[str], *, now: datetime) -> None:
    """Stage the approval email: it says where to sign in, and has no link that signs the affiliate in."""
    name = _one_line(brand.name)
    text = (
        f"{name} approved you as an affiliate.\n\nSign in with this email address to get your links and see your"
        f" earnings:\n{settings.current().web.url}/sign-in\n\n"
        f"You get this email because you are an affiliate of {name}.\n"
    )
    for email in emails:
        mail.send(
            organization_id=brand.id,
            to=email,
            subject=f"{name} approved you as an affiliate",
            text=text,
            kind="affiliate.approved",
            at=now,
        )


class RejectedApplicant(Protocol):
    """A rejected applicant."""

    @property
    def program_id(self) -> UUID: ...
    @property
    def email(self) -> str: ...


def notify_rejected(*, organization_id: UUID, applicants: Sequence[RejectedApplicant], now: datetime) -> None:
    """Stage the email to rejected applicants. It does not contain the brand's reason."""
    brand = organizations.find(organization_id) if applicants else None
    if brand is None:
        return
    names = {
        program_id: program.name
        for program_id in dict.fromkeys(applicant.program_id for applicant in applicants)
        if (program := programs.find(organization_id=organization_id, program_id=program_id)) is not None
    }
    for applicant in applicants:
        if applicant.program_id in names:
            _send_rejected(brand, names[applicant.program_id], applicant.email, now)


def _send_rejected(brand: Organization, program_name: str, email: str, now: datetime) -> None:
    name, campaign = _one_line(brand.name), _one_line(program_name)
    text = (
        f"{name} did not approve your application to its affiliate program {campaign}.\n\n"
        f"If you have questions about this decision, please contact {name}.\n\n"
        "You get this email because you applied.\n"
    )
    mail.send(
        organization_id=brand.id,
        to=email,
        subject=f"{name} did not approve your application",
        text=text,
        kind="affiliate.rejected",
        at=now,
    )


def _one_line(name: str) -> str:
    return " ".join(name.split())
