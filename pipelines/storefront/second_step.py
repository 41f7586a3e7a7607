"""The second step of an application: requested by email, submitted through the email's link or in the portal.

It may be submitted, repeatedly, until the brand has decided; an affiliate approved before submitting may submit once.
Submitted answers replace all earlier answers of the step.
Source: tracking spec, section 6, affiliate.application_completed.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from adapters.mail import answer_links
from adapters.mail.answer_links import Applicant
from domain import jobs
from domain.programs import application_answers, application_events, application_form
from domain.programs.application_form import ApplicationForm, FormField
from domain.refusals import Refused
from models.affiliates import affiliates
from models.affiliates.affiliates import Affiliate
from models.organization import organizations
from models.programs import programs
from pipelines import mail, work
from pipelines.webhooks import emit

# The minimum time between two emails to an applicant who applies again.
_EMAIL_INTERVAL = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class SecondStep:
    """The open questions to an applicant, with the applicant, the brand and the program."""

    affiliate: Affiliate
    brand: str
    program: str
    fields: tuple[FormField, ...]

    @property
    def answers(self) -> dict[str, object]:
        """The answers so far."""
        data = self.affiliate.application_data or {}
        return {field.key: data[field.key] for field in self.fields if field.key in data}


def stage_email_job(*, organization_id: UUID, affiliate_id: UUID) -> None:
    """Stage the job that emails an applicant if the second step is open."""
    work.enqueue(jobs.APPLICATION_LETTER, organization_id=organization_id, affiliate_id=affiliate_id)


def email_applicant(*, organization_id: UUID, affiliate_id: UUID, now: datetime) -> None:
    """Stage the email with the link to an applicant who has not submitted the second step; at most one an hour."""
    affiliate = affiliates.lock(organization_id=organization_id, affiliate_id=affiliate_id)
    if affiliate is None or affiliate.application_completed_at is not None:
        return
    if affiliate.application_asked_at is not None and now < affiliate.application_asked_at + _EMAIL_INTERVAL:
        return
    step = _find_step(affiliate)
    if step is None:
        return
    affiliates.change(affiliate, {"application_asked_at": now})
    brand, program = (" ".join(name.split()) for name in (step.brand, step.program))
    link = answer_links.build_url(Applicant(organization_id, affiliate_id), now=now)
    text = (
        f"{brand} has a few more questions about your application to its affiliate program {program}. Please answer"
        f" them here:\n\n{link}\n\n"
        f"The link is personal and valid for {answer_links.LIFETIME.days} days. You can use it to change your answers"
        f" until {brand} has decided.\n\nYou get this email because you applied. If you did not, you can ignore it.\n"
    )
    subject = f"A few more questions about your application to {program}"
    mail.send(
        organization_id=organization_id,
        to=affiliate.email,
        subject=subject,
        text=text,
        kind="affiliate.application",
        at=now,
    )


def find(*, organization_id: UUID, affiliate_id: UUID) -> SecondStep:
    """Return the second step of an applicant. Raises Refused 409 application_closed where it is not open (any more)."""
    return _require_step(affiliates.find(organization_id=organization_id, affiliate_id=affiliate_id))


def lock(*, organization_id: UUID, affiliate_id: UUID) -> SecondStep:
    """Like `find`, with the applicant locked until the transaction ends."""
    return _require_step(affiliates.lock(organization_id=organization_id, affiliate_id=affiliate_id))


def submit(step: SecondStep, body: Mapping[str, object], *, now: datetime) -> Affiliate:
    """Store the answers of a locked applicant, emit the event, and return the updated affiliate.

    Raises Refused 400 invalid_request for the answers.
    """
    before = step.affiliate
    answers = application_answers.validate(step.fields, body)
    keys = {field.key for field in step.fields}
    others = {key: answer for key, answer in (before.application_data or {}).items() if key not in keys}
    completed_at = before.application_completed_at or now
    after = affiliates.change(before, {"application_data": others | answers, "application_completed_at": completed_at})
    data = application_events.serialize_application_completed(
        affiliate_id=after.id,
        program_id=after.program_id,
        email=after.email,
        full_name=after.full_name,
        status=after.status,
        application_answers=after.application_data or {},
    )
    emit.event(organization_id=after.organization_id, type="affiliate.application_completed", data=data, at=now)
    return after


def closed_refusal() -> Refused:
    """Return the refusal for a second step that is not open (any more)."""
    return Refused(409, "application_closed", "There are no more questions, or the application has been decided.")


def _require_step(affiliate: Affiliate | None) -> SecondStep:
    step = None if affiliate is None else _find_step(affiliate)
    if step is None:
        raise closed_refusal()
    return step


def _find_step(affiliate: Affiliate) -> SecondStep | None:
    """Return the second step of an applicant; None where it is not open."""
    is_open = application_form.is_second_step_open(
        status=affiliate.status,
        source=affiliate.source,
        is_completed=affiliate.application_completed_at is not None,
    )
    if not is_open:
        return None
    program = programs.find_open(organization_id=affiliate.organization_id, program_id=affiliate.program_id)
    brand = organizations.find(affiliate.organization_id)
    if program is None or brand is None:
        return None
    fields = ApplicationForm.from_stored(program.application_form).list_step(2)
    return SecondStep(affiliate, brand.name, program.name, fields) if fields else None
